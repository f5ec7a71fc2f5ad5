//! Diagnostics about label files.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelLocation {
    /// The file, as the user wrote its path.
    pub file: Arc<Path>,
    /// Line number, from 1.
    pub line: u64,
}

impl fmt::Display for LabelLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// An error in a label file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct LabelProblem {
    /// Location of the error.
    pub place: LabelLocation,
    /// Message: what was found, what was expected, and what to do.
    pub message: String,
}
