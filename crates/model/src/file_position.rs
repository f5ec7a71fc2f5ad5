//! Positions in files, in a form that does not need the source text.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, line and column, for messages at run time and in reports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePosition {
    path: Arc<Path>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl FilePosition {
    /// Creates a position in a file.
    pub fn new(path: impl Into<PathBuf>, line: usize, column: usize) -> Self {
        Self { path: Arc::from(path.into()), line, column }
    }

    /// Creates a position that shares the path of the file with other positions.
    pub fn with_shared_path(path: Arc<Path>, line: usize, column: usize) -> Self {
        Self { path, line, column }
    }

    /// Returns the path of the file, as the user would write it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}
