//! Places of cases in their datasets, and failures to read a case again.

use std::io;
use std::path::PathBuf;

/// Position of a case in its dataset, so that it can be read without the cases before it. All fields are 0 for a case
/// that is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CasePlace {
    /// Byte at which its line begins.
    pub start: u64,
    /// Number of the line, from 1.
    pub line: u64,
    /// Its number among the lines or rows with content, from 1.
    pub row: u64,
}

/// Failure of a later pass over a dataset.
#[derive(Debug, thiserror::Error)]
pub enum CaseLoadError {
    /// The file can no longer be read.
    #[error("can't read {}: {source}", path.display())]
    Unreadable {
        /// Path of the dataset.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file has changed since it was checked.
    #[error("{} changed while it was read; run the command again", path.display())]
    Changed {
        /// Path of the dataset.
        path: PathBuf,
    },
    /// A valid line has become invalid: the dataset, or a file it refers to, has changed.
    #[error("line {line} of {} is no longer valid; it, or a file it names, changed during the run", path.display())]
    Invalid {
        /// Path of the dataset.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
}
