//! Events of a call that an observer may want to show: waits of retries and pauses of rate-limited accounts.

use std::time::{Duration, SystemTime};

use crate::error::ErrorKind;

/// Receiver of the events of all clients that share a setup. Called while a request waits, so it must return at once.
pub trait CallObserver: Send + Sync {
    /// Takes one event.
    fn observe(&self, event: &CallEvent<'_>);
}

/// Event of one call to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEvent<'a> {
    /// A request failed and is sent again after a wait.
    Retrying {
        /// The model as its server names it.
        model: &'a str,
        /// Number of the request that failed, from 1.
        attempt: u32,
        /// The wait before the next request.
        delay: Duration,
        /// The kind of failure.
        reason: ErrorKind,
    },
    /// The server limited an account, and no client sends it anything for a while.
    RateLimited {
        /// Host of the server.
        account: &'a str,
        /// End of the pause.
        until: SystemTime,
    },
}
