//! Errors that end a run, and those of what a run is given: items and judges.

use std::error::Error;
use std::sync::Arc;

use assize_model::CaseLoadError;
use assize_rubric::ThresholdOrderError;
use assize_store::StoreError;

/// Reason why a run ended before its items did.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A record could not be kept.
    #[error("the results can't be stored: {0}")]
    Store(#[from] StoreError),
    /// The items themselves could not be read on.
    #[error(transparent)]
    Items(#[from] ItemError),
}

/// Reason why the source of a run's items can't make the next one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// A case that was valid can't be read again.
    #[error(transparent)]
    Case(#[from] CaseLoadError),
    /// The thresholds of a case contradict each other.
    #[error(transparent)]
    Thresholds(#[from] ThresholdOrderError),
    /// The source failed for a reason of its own.
    #[error(transparent)]
    Source(Box<dyn Error + Send + Sync>),
}

/// Reason why there is no judge for a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The judge can't be made: nobody knows its name, or its model can't be asked.
    #[error("{0}")]
    Unavailable(String),
    /// A program asks for the model of a judge that is none.
    #[error("the judge `{0}` is not a model, so programs can't call it")]
    NotModel(Arc<str>),
}
