//! Temporary folders that other users of the machine can't read.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Creates a temporary folder in `root` that only this user may enter. It is removed with its contents on drop.
pub fn private_folder(prefix: &str, root: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }

    builder.tempdir_in(root)
}

/// Maximum length of the readable part of a folder's name.
const MAX_READABLE_NAME: usize = 40;

/// Returns the readable part of the name of a folder for something named `name`, which may contain any
/// characters: letters, digits, `-` and `_` only, of bounded length.
pub fn readable_name(name: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().take(MAX_READABLE_NAME).map(|c| if is_kept(c) { c } else { '-' }).collect()
}
