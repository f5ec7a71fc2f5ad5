//! Events of calls that take longer than one attempt, for whoever shows progress.

use std::sync::Arc;
use std::time::Duration;

use crate::error::ErrorKind;

/// Failed attempt of a call that will be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEvent {
    /// Provider of the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Failure; [`ErrorKind::RateLimited`] and [`ErrorKind::Overloaded`] slow the whole account down.
    pub kind: ErrorKind,
    /// Attempts that counted so far.
    pub attempts: u32,
    /// Time until the next attempt.
    pub wait: Duration,
}

/// Receiver of [`CallEvent`]s; called from the tasks that make the calls.
pub type CallObserver = Arc<dyn Fn(CallEvent) + Send + Sync>;
