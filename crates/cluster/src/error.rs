//! Errors of a run over many machines.

use std::fmt::Display;

/// An operation of the cluster failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// A retry may help: a server does not answer, a connection was cut.
    #[error("{0}")]
    Unreachable(String),
    /// A retry would not help: the server is too old, the store refuses, or the files have another version.
    #[error("{0}")]
    Refused(String),
    /// A stored result is missing or damaged. Running its unit again replaces it.
    #[error("{0}")]
    Damaged(String),
}

impl ClusterError {
    /// An operation on the message server failed.
    pub(crate) fn unreachable(what: &str, error: impl Display) -> Self {
        Self::Unreachable(format!("can't {what}: {error}"))
    }

    /// Another coordinator has taken over the job.
    pub(crate) fn taken_over() -> Self {
        Self::Refused("another coordinator has taken over this job".to_owned())
    }

    /// A file or a bucket failed.
    pub(crate) fn storage(what: &str, error: impl Display) -> Self {
        Self::Refused(format!("can't {what}: {error}"))
    }
}
