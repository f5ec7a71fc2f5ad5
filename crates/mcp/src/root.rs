//! The folder that paths in arguments can't leave.

use std::path::{Component, Path, PathBuf};

use crate::outcome::ToolFailure;

/// Canonical path of the folder that must contain all paths of clients.
#[derive(Debug, Clone)]
pub(crate) struct RootFolder(PathBuf);

impl RootFolder {
    /// The folder at this path.
    pub(crate) fn new(path: &Path) -> std::io::Result<Self> {
        let path = path.canonicalize()?;
        if !path.is_dir() {
            return Err(std::io::ErrorKind::NotADirectory.into());
        }

        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Canonical path of an existing file or folder below this folder. Relative paths start here.
    ///
    /// # Errors
    /// When the path leads outside, as text or through a symbolic link, or does not exist. Paths that lead outside as
    /// text are refused without touching the file system, so that clients learn nothing about other files.
    pub(crate) fn existing(&self, written: &str) -> Result<PathBuf, ToolFailure> {
        let outside =
            || ToolFailure::usage(format!("`{written}` is outside of the folder that this server may read"));
        let inside = self.joined(written).ok_or_else(outside)?;
        let real = inside
            .canonicalize()
            .map_err(|_| ToolFailure::usage(format!("`{written}` does not exist, or can't be read")))?;

        if self.holds(&real) { Ok(real) } else { Err(outside()) }
    }

    /// Returns true if a canonical path is this folder or below it.
    pub(crate) fn holds(&self, real: &Path) -> bool {
        real.starts_with(&self.0)
    }

    /// A path below this folder with `.` and `..` resolved as text; `None` if it leads outside.
    fn joined(&self, written: &str) -> Option<PathBuf> {
        let written = Path::new(written);
        let relative = if written.is_absolute() { written.strip_prefix(&self.0).ok()? } else { written };

        let mut steps: Vec<&std::ffi::OsStr> = Vec::new();
        for component in relative.components() {
            match component {
                Component::Normal(step) => steps.push(step),
                Component::CurDir => {}
                Component::ParentDir => {
                    steps.pop()?;
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }

        Some(steps.iter().fold(self.0.clone(), |path, step| path.join(step)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_files_of_the_folder_only() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("project");
        std::fs::create_dir_all(inner.join("evals")).expect("folders");
        std::fs::write(inner.join("evals/a.yaml"), "").expect("a file");
        std::fs::write(outer.path().join("secret.yaml"), "").expect("a file");
        let root = RootFolder::new(&inner).expect("a root");

        let real = inner.canonicalize().expect("it exists");
        for written in ["evals/a.yaml", "./evals/../evals/a.yaml"] {
            assert_eq!(root.existing(written).expect(written), real.join("evals/a.yaml"));
        }
        let absolute = real.join("evals").display().to_string();
        assert_eq!(root.existing(&absolute).expect("absolute"), real.join("evals"));
        assert_eq!(root.existing(".").expect("the folder itself"), real);

        for written in ["../secret.yaml", "evals/../../secret.yaml", "/etc/passwd", ".."] {
            let failure = root.existing(written).expect_err(written);
            assert!(failure.message.contains("outside"), "{}", failure.message);
        }
        assert!(root.existing("nowhere.yaml").expect_err("missing").message.contains("does not exist"));
        assert!(root.existing("a\0b").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_outside_is_refused() {
        let outer = tempfile::tempdir().expect("a folder");
        let inner = outer.path().join("project");
        std::fs::create_dir(&inner).expect("a folder");
        std::fs::write(outer.path().join("secret.yaml"), "").expect("a file");
        std::os::unix::fs::symlink(outer.path().join("secret.yaml"), inner.join("link.yaml"))
            .expect("a link");

        let failure = RootFolder::new(&inner).expect("a root").existing("link.yaml").expect_err("a link");
        assert!(failure.message.contains("outside"), "{}", failure.message);
    }
}
