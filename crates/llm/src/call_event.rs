//! Events of a call that an observer may want to show: waits of retries, pauses of rate-limited accounts, outages.

use std::time::{Duration, SystemTime};

use crate::error::ErrorKind;

/// Receives the events of all clients that share a setup. It is called while a request waits, so it must return
/// at once.
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
    /// Requests to an account failed one after another. From now on one at a time is sent, until one is
    /// answered.
    AccountHeld {
        /// Host of the server.
        account: &'a str,
        /// The kind of failure.
        reason: ErrorKind,
    },
    /// An account on hold answers again.
    AccountBack {
        /// Host of the server.
        account: &'a str,
    },
    /// A request has not received a byte for this long, although later requests of the account were answered.
    Unanswered {
        /// Host of the server.
        account: &'a str,
        /// How long it has been waiting.
        silence: Duration,
    },
    /// An account was given up: the request was not sent, and none will be.
    GivenUp {
        /// Host of the server.
        account: &'a str,
        /// The last failure, in words.
        reason: &'a str,
    },
}
