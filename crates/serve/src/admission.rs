//! The queue: decides which samples are accepted.
//!
//! Judges take seconds, so a busy server could accept far more than it can finish. `limit` is the number of accepted
//! samples that are not answered yet; requests beyond it are refused at once with 429 and a time to retry, because a
//! client that waits without end can't try another server. For each client, at most `at_once` samples are graded at
//! once ([`Tenant::turn`](crate::tenant::Tenant::turn)).
//!
//! Every accepted sample is answered, even if only as ungraded. [`AcceptedSamples`] therefore holds the queue slots of
//! a whole request until its job has ended. `graded` counts the samples in it that have a result already, for metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::problem::ApiError;

/// Maximum number of seconds in `Retry-After`.
const MAX_RETRY_AFTER: u64 = 30;

/// Bounded queue of samples. Samples that do not fit are refused at once instead of waiting without end.
pub(crate) struct SampleQueue {
    accepted: AtomicUsize,
    /// Accepted samples that have a result, in requests whose other samples are not done yet.
    graded: AtomicUsize,
    limit: usize,
    at_once: usize,
}

impl SampleQueue {
    pub(crate) fn new(at_once: usize, limit: usize) -> Self {
        Self { accepted: AtomicUsize::new(0), graded: AtomicUsize::new(0), limit, at_once: at_once.max(1) }
    }

    /// Accepts samples. From then on, each of them always gets an answer.
    ///
    /// # Errors
    /// 429 when the queue is full; 422 when there are more samples than the queue can ever hold.
    pub(crate) fn accept(self: &Arc<Self>, count: usize) -> Result<AcceptedSamples, ApiError> {
        if count > self.limit {
            let message = format!("{count} samples; the queue of this server holds {}", self.limit);
            return Err(ApiError::invalid_at("/samples", message));
        }

        let before = self.accepted.fetch_add(count, Ordering::AcqRel);
        let accepted = AcceptedSamples { queue: Arc::clone(self), count };
        if before + count > self.limit {
            let message = format!("the queue is full: {before} samples of {} are in it", self.limit);
            // A rough estimate is enough: how long judges take is unknown.
            let wait = 1 + (before / self.at_once) as u64;
            return Err(ApiError::overloaded(message, wait.min(MAX_RETRY_AFTER)));
        }

        Ok(accepted)
    }

    /// Number of samples that are accepted and not answered yet.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Acquire)
    }

    /// Counts a sample that has its result.
    pub(crate) fn note_graded(&self) {
        self.graded.fetch_add(1, Ordering::AcqRel);
    }

    /// Stops counting the graded samples of a request that has all its results.
    pub(crate) fn forget_graded(&self, count: usize) {
        self.graded.fetch_sub(count, Ordering::AcqRel);
    }

    /// Number of samples that are accepted and have no result yet.
    pub(crate) fn unfinished(&self) -> usize {
        self.accepted().saturating_sub(self.graded.load(Ordering::Acquire))
    }

    /// Number of samples of a client that are graded at once.
    pub(crate) fn at_once(&self) -> usize {
        self.at_once
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

/// Places of samples in the queue, freed when this is dropped.
pub(crate) struct AcceptedSamples {
    queue: Arc<SampleQueue>,
    count: usize,
}

impl Drop for AcceptedSamples {
    fn drop(&mut self) {
        self.queue.accepted.fetch_sub(self.count, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_until_there_is_room() {
        let queue = Arc::new(SampleQueue::new(2, 10));
        let first = queue.accept(8).unwrap_or_else(|_| panic!("there is room"));
        let error = queue.accept(3).err().unwrap();
        assert_eq!((error.status.as_u16(), error.retry_after), (429, Some(5)));
        assert_eq!(queue.accepted(), 8, "what is refused takes no room");

        drop(first);
        assert!(queue.accept(10).is_ok());
        assert_eq!(queue.accept(11).err().unwrap().status.as_u16(), 422);
    }
}
