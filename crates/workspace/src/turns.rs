//! The order in which cases get a workspace that they share.

use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

/// Hands out places in a queue.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

/// A place in the queue of a workspace. Whoever is behind goes on when it is dropped.
#[derive(Debug)]
pub struct Turn {
    before: Option<oneshot::Receiver<()>>,
    /// Dropping it wakes the next.
    _done: oneshot::Sender<()>,
}

impl Turns {
    /// The next place.
    pub(crate) fn queue(&self) -> Turn {
        let (done, next) = oneshot::channel();
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(next);
        Turn { before, _done: done }
    }
}

impl Turn {
    /// Waits until those before it are done.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = self.before.as_mut() {
            // Nobody ever sends anything: it ends when the sender is dropped.
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
        let turns = Turns::default();
        let (mut first, mut second) = (turns.queue(), turns.queue());
        first.come().await;
        let mut waiting = std::pin::pin!(second.come());
        tokio::select! {
            biased;
            () = &mut waiting => panic!("out of turn"),
            () = std::future::ready(()) => {}
        }
        drop(first);
        waiting.await;
    }
}
