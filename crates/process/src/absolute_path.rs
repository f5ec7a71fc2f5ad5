//! Absolute paths, for other processes.

use std::path::{Path, PathBuf};

/// The absolute form of a path. A process in another folder would look for a relative path there. Links are not
/// followed, and nothing needs to exist.
pub fn absolute_path(path: &Path) -> PathBuf {
    // Only an empty path, or one in a working folder that no longer exists, has no absolute form.
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_begin_at_the_root_and_absolute_ones_stay() {
        let found = absolute_path(Path::new("./a/b.txt"));
        assert!(found.is_absolute() && found.ends_with("a/b.txt"), "{}", found.display());
        assert_eq!(absolute_path(Path::new("/x/../y")), Path::new("/x/../y"));
        assert_eq!(absolute_path(Path::new("")), Path::new(""));
    }
}
