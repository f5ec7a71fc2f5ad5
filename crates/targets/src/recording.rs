//! Files of recordings, and their errors.

use std::fs;
use std::path::{Path, PathBuf};

/// Reason why a recording can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file or folder can't be read.
    #[error("{}: can't be read: {cause}", path.display())]
    Unreadable {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the system.
        cause: std::io::Error,
    },
    /// A line of a file is invalid.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Description of the error.
        message: String,
    },
    /// A file as a whole is invalid.
    #[error("{}: {message}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        message: String,
    },
}

/// Lists the files of a recording: the file itself, or the `.jsonl` and `.json` files of a folder ordered by
/// name.
pub(crate) fn list_recording_files(path: &Path) -> Result<Vec<PathBuf>, RecordingError> {
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
