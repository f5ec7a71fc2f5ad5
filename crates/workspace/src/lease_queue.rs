//! The order in which cases acquire a shared workspace.

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Queue of waiting cases.
#[derive(Debug, Default)]
pub(crate) struct LeaseQueue {
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

/// Position in the queue of a workspace. Dropping it wakes the next in line.
#[derive(Debug)]
pub struct LeaseQueuePosition {
    before: Option<oneshot::Receiver<()>>,
    /// Dropping it wakes the next in line.
    _done: oneshot::Sender<()>,
}

impl LeaseQueue {
    /// Returns the next position.
    pub(crate) fn next_position(&self) -> LeaseQueuePosition {
        let (done, next) = oneshot::channel();
        let before = self.last.lock().replace(next);
        LeaseQueuePosition { before, _done: done }
    }
}

impl LeaseQueuePosition {
    /// Waits until all earlier positions are dropped.
    pub(crate) async fn wait(&mut self) {
        if let Some(before) = self.before.as_mut() {
            // No value is ever sent: the wait ends when the sender is dropped.
            drop(before.await);
            self.before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_behind_wait_for_those_before() {
        let turns = LeaseQueue::default();
        let (mut first, mut second) = (turns.next_position(), turns.next_position());
        first.wait().await;
        let mut waiting = std::pin::pin!(second.wait());
        tokio::select! {
            biased;
            () = &mut waiting => panic!("out of turn"),
            () = std::future::ready(()) => {}
        }
        drop(first);
        waiting.await;
    }
}
