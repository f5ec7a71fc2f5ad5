//! Worker slots: as many cases run as there are slots, however many are enqueued.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// Cases that still wait for a slot when more of them are asked for: enough to last until they come.
const LOW_QUEUE: usize = 16;

/// The worker slots of a run. Cases take them in the order in which they ask.
#[derive(Debug)]
pub(crate) struct WorkerSlots {
    free: Semaphore,
    /// Cases that are enqueued and have no slot yet.
    queued: AtomicUsize,
    low_queue: Notify,
}

impl WorkerSlots {
    pub(crate) fn new(slots: usize) -> Self {
        Self { free: Semaphore::new(slots), queued: AtomicUsize::new(0), low_queue: Notify::new() }
    }

    /// Counts a case that will [`Self::acquire`] a slot.
    pub(crate) fn enqueue(&self) {
        self.queued.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for a slot; it is free again when the permit is dropped.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed, so there always is one in the end.
        let slot = self.free.acquire().await.ok();
        if self.queued.fetch_sub(1, Ordering::Relaxed) == LOW_QUEUE {
            self.low_queue.notify_one();
        }
        slot
    }

    /// Waits until few cases wait for a slot.
    pub(crate) async fn wait_for_low_queue(&self) {
        self.low_queue.notified().await;
    }
}
