//! Failures of working together.

use std::fmt::Display;

/// Failure of an operation of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// Something that trying again may cure: a server that does not answer, a connection that was cut.
    #[error("{0}")]
    Unreachable(String),
    /// Something that stays as it is: a server that is too old, a store that refuses, files of another version.
    #[error("{0}")]
    Refused(String),
    /// A stored result that is missing, or is not what was stored. Running its unit again replaces it.
    #[error("{0}")]
    Damaged(String),
}

impl ClusterError {
    /// Failure of an attempt to do something with the message server.
    pub(crate) fn unreachable(what: &str, error: impl Display) -> Self {
        Self::Unreachable(format!("can't {what}: {error}"))
    }

    /// Refusal of a job that somebody else coordinates now.
    pub(crate) fn taken_over() -> Self {
        Self::Refused("another coordinator has taken over this job".to_owned())
    }

    /// Failure of a file or a bucket.
    pub(crate) fn storage(what: &str, error: impl Display) -> Self {
        Self::Refused(format!("can't {what}: {error}"))
    }
}
