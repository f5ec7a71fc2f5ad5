//! Errors of run folders and of the reply cache.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the reason of a failed operation, without the operating system's error number if a common text
/// exists.
fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Error while writing or reading a run folder.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An operation of the file system failed.
    #[error("can't {action} `{}`: {}", path.display(), io_reason(source))]
    Io {
        /// The operation, as a verb: "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A line can't be parsed.
    #[error("`{}` line {line} is damaged: {message}", path.display())]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Description of the defect.
        message: String,
    },
    /// A finished run has lost rows, or has additional ones.
    #[error(
        "`{}` has {found} rows, but the run ended with {expected}: the file was truncated or changed; `--resume` runs the missing cases again",
        path.display()
    )]
    RowsLost {
        /// Path of the file.
        path: PathBuf,
        /// Rows of the file.
        found: u64,
        /// Rows when the run ended.
        expected: u64,
    },
    /// `run.json` was changed after it was written.
    #[error(
        "`{}` was changed after it was written: it does not match its checksum; restore it, or run again into a new folder",
        path.display()
    )]
    InfoChanged {
        /// Path of the file.
        path: PathBuf,
    },
    /// Rows of a finished run were replaced by rows of another run.
    #[error(
        "`{}` does not hold the rows with which the run ended: some were replaced by rows of another run; restore the file, or run again into a new folder",
        path.display()
    )]
    RowsReplaced {
        /// Path of the file.
        path: PathBuf,
    },
    /// A row can't be serialised as JSON.
    #[error("a row can't be written: {source}")]
    Unwritable {
        /// The serialisation error.
        source: serde_json::Error,
    },
    /// The folder is not a run.
    #[error("`{}` is not a run folder: it has no run.json", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// The folder already holds a run.
    #[error("`{}` already holds a run", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// The reply cache, or a file beside it, can't be used.
    #[error("the reply cache can't use `{}`: {message}", path.display())]
    Cache {
        /// Path of the file.
        path: PathBuf,
        /// Description of the failure.
        message: String,
    },
    /// The reply cache is damaged or not a database. Deleting the file lets it be rebuilt.
    #[error("the reply cache `{}` is damaged: {message}", path.display())]
    DamagedCache {
        /// Path of the file.
        path: PathBuf,
        /// Description of the damage.
        message: String,
    },
    /// Another process is writing this run or this cache.
    #[error("`{}` is being written by another process", path.display())]
    Busy {
        /// The folder of the run, or the file of the cache.
        path: PathBuf,
    },
    /// The run was written by a version with another layout.
    #[error("`{}` has format version {found}; this version reads up to {known}", path.display())]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// The newest version that can be read.
        known: u32,
    },
}

impl StoreError {
    /// The error for a damaged line.
    pub(crate) fn damaged(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), line, message: message.into() }
    }

    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Copies the error for a caller who tries again after a failure.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Io { action, path, source } => Self::Io {
                action,
                path: path.clone(),
                source: io::Error::new(source.kind(), source.to_string()),
            },
            other => {
                Self::Io { action: "use", path: PathBuf::new(), source: io::Error::other(other.to_string()) }
            }
        }
    }
}
