//! Reasons why a file of records can't be read.

use std::io;

/// Failure to read a file of records.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file can't be opened or read.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// A JSON document or line is not what the format says.
    #[error("{part}: {error}", part = .part, error = .error)]
    Json {
        /// The file, a line of it, or a part of an archive.
        part: String,
        /// Error of the reader, with line and column.
        error: serde_json::Error,
    },
    /// An archive is damaged, or holds what can't be read.
    #[error("{0}")]
    Archive(String),
    /// The file is a table of a kind that is not read.
    #[error("{what} is not read")]
    OtherTable {
        /// Kind of the file.
        what: &'static str,
        /// One thing to do about it.
        help: &'static str,
    },
}

impl RecordError {
    pub(crate) fn json(part: impl Into<String>, error: serde_json::Error) -> Self {
        Self::Json { part: part.into(), error }
    }

    /// Returns one thing to do about it, if there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::OtherTable { help, .. } => Some(help),
            _ => None,
        }
    }
}
