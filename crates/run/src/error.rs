//! Errors that end a run.

use assize_store::StoreError;

/// Reason why a run ended before its items did.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A record could not be kept.
    #[error("the results can't be stored: {0}")]
    Store(#[from] StoreError),
    /// The items themselves could not be read on.
    #[error("{0}")]
    Items(String),
}
