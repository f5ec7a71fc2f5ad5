//! The folders that files named by other files may be read from.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// How to allow a file outside of the folders, for messages.
pub const OTHER_WAYS: &str = "allow another folder with `--root DIR`, or run the file with `--allow-code`";

/// Folders that files may be read from, by their canonical paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRoots {
    folders: Vec<PathBuf>,
    is_open: bool,
}

impl FileRoots {
    /// Creates the roots from canonical paths.
    pub const fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, is_open: false }
    }

    /// These roots, or the whole file system if the user consented.
    pub fn or_everywhere(self, is_open: bool) -> Self {
        Self { is_open, ..self }
    }

    /// Resolves a path with all its links. It need not be a file.
    ///
    /// # Errors
    /// If it does not exist, or leads outside the roots.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let real = path.canonicalize()?;
        if self.is_open || self.folders.iter().any(|root| real.starts_with(root)) {
            return Ok(real);
        }

        Err(io::Error::new(
            ErrorKind::PermissionDenied,
            format!("it is outside the allowed folders, {self}; move it there, or {OTHER_WAYS}"),
        ))
    }

    /// Whether a path exists and does not lead outside.
    pub fn contain(&self, path: &Path) -> bool {
        self.resolve(path).is_ok()
    }

    /// Whether no file may be read.
    pub const fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }
}

impl std::fmt::Display for FileRoots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, root) in self.folders.iter().enumerate() {
            let before = if at == 0 { "" } else { " and " };
            write!(f, "{before}`{}`", root.display())?;
        }

        Ok(())
    }
}
