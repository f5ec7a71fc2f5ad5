//! Who may be worked on: as many cases as there are seats, however many were handed out.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// Cases that still wait for a seat when more of them are asked for: enough to last until they come.
const FEW: usize = 16;

/// The seats of a run. Cases take them in the order in which they ask.
#[derive(Debug)]
pub(crate) struct Seats {
    free: Semaphore,
    /// Cases that were handed out and have no seat yet.
    waiting: AtomicUsize,
    few: Notify,
}

impl Seats {
    pub(crate) fn new(seats: usize) -> Self {
        Self { free: Semaphore::new(seats), waiting: AtomicUsize::new(0), few: Notify::new() }
    }

    /// Takes note that a case was handed out, which will [`Self::take`] a seat.
    pub(crate) fn hand_out(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// A seat, once there is one; it is free again when what is returned is dropped.
    pub(crate) async fn take(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed, so there always is one in the end.
        let seat = self.free.acquire().await.ok();
        if self.waiting.fetch_sub(1, Ordering::Relaxed) == FEW {
            self.few.notify_one();
        }
        seat
    }

    /// Waits until few cases wait for a seat.
    pub(crate) async fn running_out(&self) {
        self.few.notified().await;
    }
}
