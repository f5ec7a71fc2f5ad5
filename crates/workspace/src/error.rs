//! Why there is no workspace to work in.

use std::io;
use std::path::Path;

/// A workspace that could not be made, put back or looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PlaceError {
    /// What kind of failure it is, as results keep it: `template`, `repository`, `hook`, `timeout`, `reset`, `changes`,
    /// `cancelled` or `io`.
    pub kind: &'static str,
    /// What happened and what may be done about it, for a person.
    pub message: String,
}

impl PlaceError {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The system failed at `doing` something to a file or folder.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new("io", format!("could not {doing} `{}`: {error}", path.display()))
    }
}
