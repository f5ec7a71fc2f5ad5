//! Errors of workspaces.

use std::io;
use std::path::Path;

/// Error of creating, restoring or inspecting a workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WorkspaceError {
    /// Kind of failure, as stored in results: `template`, `repository`, `hook`, `timeout`, `reset`,
    /// `changes`, `cancelled` or `io`.
    pub kind: &'static str,
    /// Message for a person: the cause, and a possible fix.
    pub message: String,
}

impl WorkspaceError {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Creates an I/O error of `doing` something to a file or folder.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new("io", format!("could not {doing} `{}`: {error}", path.display()))
    }
}
