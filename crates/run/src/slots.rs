//! Worker slots limit how many cases run at once. More cases may be enqueued.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// More cases are requested when only this many still wait for a slot, which is enough until new ones arrive.
const LOW_QUEUE: usize = 16;

/// The worker slots of a run. Cases get them in the order in which they ask.
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

    /// Waits for a slot. It is free again when the permit is dropped.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so there always is a permit in the end.
        let slot = self.free.acquire().await.ok();

        if self.queued.fetch_sub(1, Ordering::Relaxed) == LOW_QUEUE {
            self.low_queue.notify_one();
        }

        slot
    }

    /// Waits until at most [`LOW_QUEUE`] cases wait for a slot.
    pub(crate) async fn wait_for_low_queue(&self) {
        self.low_queue.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn there_are_as_many_permits_as_slots() {
        let slots = WorkerSlots::new(2);
        for _ in 0..3 {
            slots.enqueue();
        }

        let first = slots.acquire().await;
        let _second = slots.acquire().await;
        assert_eq!(slots.free.available_permits(), 0);

        drop(first);
        assert!(slots.acquire().await.is_some());
    }

    #[tokio::test]
    async fn a_low_queue_is_told_to_whoever_waits_for_it_then_or_later() {
        let slots = WorkerSlots::new(LOW_QUEUE + 1);
        for _ in 0..=LOW_QUEUE {
            slots.enqueue();
        }
        let waits = tokio::time::timeout(std::time::Duration::ZERO, slots.wait_for_low_queue()).await;
        assert!(waits.is_err(), "the queue is long");

        let _one = slots.acquire().await;
        let _another = slots.acquire().await;

        slots.wait_for_low_queue().await;
    }
}
