//! The queue: samples that are accepted, and those that are graded at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assize_engine::GradingStop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::ApiError;

/// Longest wait that a client is told, in seconds.
const LONGEST_WAIT: u64 = 30;

/// Bounded queue of samples. What does not fit is refused at once rather than kept waiting without an end.
pub(crate) struct SampleQueue {
    accepted: AtomicUsize,
    /// Samples among them that are graded, of requests that still wait for others.
    graded: AtomicUsize,
    limit: usize,
    slots: Arc<Semaphore>,
    at_once: usize,
}

impl SampleQueue {
    pub(crate) fn new(at_once: usize, limit: usize) -> Self {
        let at_once = at_once.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            accepted: AtomicUsize::new(0),
            graded: AtomicUsize::new(0),
            limit,
            slots: Arc::new(Semaphore::new(at_once)),
            at_once,
        }
    }

    /// Accepts samples; each is answered then, whatever comes.
    ///
    /// # Errors
    /// With 429 when the queue is full, with 422 when so many never fit.
    pub(crate) fn accept(self: &Arc<Self>, count: usize) -> Result<AcceptedSamples, ApiError> {
        if count > self.limit {
            let message = format!("{count} samples; the queue of this server holds {}", self.limit);
            return Err(ApiError::invalid_at("/samples", message));
        }

        let before = self.accepted.fetch_add(count, Ordering::AcqRel);
        let accepted = AcceptedSamples { queue: Arc::clone(self), count };
        if before + count > self.limit {
            let message = format!("the queue is full: {before} samples of {} are in it", self.limit);
            // A rough measure is enough: nobody knows how long judges take.
            let wait = 1 + (before / self.at_once.max(1)) as u64;
            return Err(ApiError::overloaded(message, wait.min(LONGEST_WAIT)));
        }

        Ok(accepted)
    }

    /// Waits for a turn, unless grading is stopped before.
    pub(crate) async fn turn(&self, stop: &GradingStop) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            () = stop.stopped() => None,
            permit = Arc::clone(&self.slots).acquire_owned() => permit.ok(),
        }
    }

    /// Samples that are accepted and not answered.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Acquire)
    }

    /// A sample has its result.
    pub(crate) fn note_graded(&self) {
        self.graded.fetch_add(1, Ordering::AcqRel);
    }

    /// All samples of a request have their results, so many of which were noted.
    pub(crate) fn forget_graded(&self, count: usize) {
        self.graded.fetch_sub(count, Ordering::AcqRel);
    }

    /// Samples that are accepted and have no result.
    pub(crate) fn unfinished(&self) -> usize {
        self.accepted().saturating_sub(self.graded.load(Ordering::Acquire))
    }

    /// Samples that are graded now.
    pub(crate) fn working(&self) -> usize {
        self.at_once.saturating_sub(self.slots.available_permits())
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

/// Place of samples in the queue.
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
