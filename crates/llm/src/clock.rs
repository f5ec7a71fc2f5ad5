//! Time as this crate needs it: waits between attempts, and the date, because servers may name one to come back
//! at.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::chat_model::BoxFuture;

/// Waits, and the date. Tests use a clock that records waits and returns at once.
pub trait Clock: Send + Sync {
    /// Completes after this long.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// The date and time now.
    fn now(&self) -> SystemTime;

    /// A point in time for measuring how much time passes.
    fn instant(&self) -> Instant {
        Instant::now()
    }
}

/// Real time, by tokio's timer.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioClock;

impl Clock for TokioClock {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock that callers pass in")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}
