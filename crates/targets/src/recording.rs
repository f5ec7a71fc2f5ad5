//! Files with recordings: finding them, and why they can't be used.

use std::fs;
use std::path::{Path, PathBuf};

/// Why a recording can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file or folder can't be read.
    #[error("{}: can't be read: {cause}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// Something in a file is wrong.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A file as a whole is wrong.
    #[error("{}: {message}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// The files a recording consists of: the file itself, or the `.jsonl` and `.json` files of a folder in the order of
/// their names.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, RecordingError> {
    let unreadable = |cause| RecordingError::Unreadable { path: path.to_owned(), cause };
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let is_log = file.extension().is_some_and(|extension| extension == "jsonl" || extension == "json");
        if is_log && file.is_file() {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        let message = "the folder holds no `.jsonl` or `.json` file".to_owned();
        return Err(RecordingError::File { path: path.to_owned(), message });
    }
    Ok(found)
}
