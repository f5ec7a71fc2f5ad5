//! Errors that end a run, and errors of items and judges.

use std::error::Error;
use std::sync::Arc;

use assize_model::CaseLoadError;
use assize_rubric::ThresholdOrderError;
use assize_store::StoreError;

/// Why a run ended before its items did.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A record could not be stored.
    #[error("the results can't be stored: {0}")]
    Store(#[from] StoreError),
    /// No further items could be read.
    #[error(transparent)]
    Items(#[from] ItemError),
}

/// Why the next item of a run can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// A case that was valid can't be read again.
    #[error(transparent)]
    Case(#[from] CaseLoadError),
    /// The thresholds of a case contradict each other.
    #[error(transparent)]
    Thresholds(#[from] ThresholdOrderError),
    /// The source itself failed.
    #[error(transparent)]
    Source(Box<dyn Error + Send + Sync>),
}

/// Why there is no judge for a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The judge can't be made: its name is unknown, or its model can't be used.
    #[error("{0}")]
    Unavailable(String),
    /// A program requests the model of a judge that has none.
    #[error("the judge `{0}` is not a model, so programs can't call it")]
    NotModel(Arc<str>),
}
