//! Records the requests that a call has sent, for callers who may give the call up before it ends.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::call_source::CallSource;
use crate::error::{AskError, ErrorKind, FailedAttempt};
use crate::token_counts::TokenCounts;

tokio::task_local! {
    static CALL: Arc<SentRequests>;
}

/// The requests that a call has sent so far. A server may charge for a request that is in flight when the call is
/// abandoned.
#[derive(Debug, Default)]
pub struct SentRequests {
    source: Option<CallSource>,
    state: Mutex<SentState>,
}

#[derive(Debug, Default)]
struct SentState {
    failed: Vec<FailedAttempt>,
    is_in_flight: bool,
}

impl SentRequests {
    /// Starts a count for a call of this source.
    pub fn of(source: Option<CallSource>) -> Self {
        Self { source, ..Self::default() }
    }

    /// Runs a call and records its requests.
    pub async fn record<F: Future>(self: &Arc<Self>, call: F) -> F::Output {
        CALL.scope(Arc::clone(self), call).await
    }

    /// The error of a call that was given up, with the requests that it had sent.
    pub fn cancelled(&self, reason: &str) -> AskError {
        let state = self.state.lock();
        let mut failed = state.failed.clone();
        if state.is_in_flight {
            failed.push(FailedAttempt {
                kind: ErrorKind::Cancelled,
                status: None,
                waited: Duration::ZERO,
                usage: TokenCounts::default(),
                sent: true,
            });
        }

        let attempts = u32::try_from(failed.len()).unwrap_or(u32::MAX);
        AskError { attempts, failed, ..AskError::new(ErrorKind::Cancelled, reason) }
    }
}

/// The source of the current call, if it is known.
pub(crate) fn current_source() -> Option<CallSource> {
    CALL.try_with(|call| call.source).ok().flatten()
}

/// A request of the current call was sent, or answered.
pub(crate) fn note_in_flight(is_in_flight: bool) {
    let _ = CALL.try_with(|call| call.state.lock().is_in_flight = is_in_flight);
}

/// A request of the current call failed.
pub(crate) fn note_failed(attempt: &FailedAttempt) {
    let _ = CALL.try_with(|call| call.state.lock().failed.push(attempt.clone()));
}
