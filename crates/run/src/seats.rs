//! Worker slots: the limit of cases in progress, however many were spawned.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// Number of waiting cases at which more are spawned: enough to keep all slots busy until they arrive.
const FEW: usize = 16;

/// The worker slots of a run. Cases get them in the order of their requests.
#[derive(Debug)]
pub(crate) struct Seats {
    free: Semaphore,
    /// Cases that were spawned and have no slot yet.
    waiting: AtomicUsize,
    few: Notify,
}

impl Seats {
    pub(crate) fn new(seats: usize) -> Self {
        Self { free: Semaphore::new(seats), waiting: AtomicUsize::new(0), few: Notify::new() }
    }

    /// Records that a case was spawned, which will [`Self::take`] a slot.
    pub(crate) fn hand_out(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for a free slot, which is occupied until the returned permit is dropped.
    pub(crate) async fn take(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so a slot is always found eventually.
        let seat = self.free.acquire().await.ok();
        if self.waiting.fetch_sub(1, Ordering::Relaxed) == FEW {
            self.few.notify_one();
        }
        seat
    }

    /// Waits until few cases are waiting for a slot.
    pub(crate) async fn running_out(&self) {
        self.few.notified().await;
    }
}
