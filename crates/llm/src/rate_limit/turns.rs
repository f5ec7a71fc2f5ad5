//! The right to be the next to send a request: one holder at a time, by order and then by arrival.
//!
//! A semaphore serves waiters by arrival. Requests of earlier cases have to come first, even if they arrive later, so
//! the waiters are in an ordered map. A holder hands its turn to the first waiter through a channel. The turn travels
//! in the message: if the waiter is dropped before it receives the turn, dropping the message passes the turn on, so
//! that no turn is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Hands out turns.
#[derive(Debug, Default)]
pub(super) struct TurnQueue(Mutex<TurnState>);

#[derive(Debug, Default)]
struct TurnState {
    is_taken: bool,
    arrivals: u64,
    waiting: BTreeMap<TurnPlace, oneshot::Sender<Turn>>,
}

/// A place in the queue. Lower ones come first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TurnPlace {
    order: u64,
    arrival: u64,
}

/// A turn. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    /// `None` once it was passed on.
    queue: Option<Arc<TurnQueue>>,
}

impl TurnQueue {
    /// Waits for a turn. The request with the lowest order is next; among equal ones, the first that waited.
    pub(super) async fn wait(self: &Arc<Self>, order: u64) -> Turn {
        let given = {
            let mut state = self.0.lock();
            if !state.is_taken {
                state.is_taken = true;
                return Turn { queue: Some(Arc::clone(self)) };
            }

            let (give, given) = oneshot::channel();
            state.arrivals += 1;
            let place = TurnPlace { order, arrival: state.arrivals };
            state.waiting.insert(place, give);
            given
        };

        // A sender is only dropped after it has sent, so there always is a turn.
        given.await.unwrap_or(Turn { queue: None })
    }

    /// Gives the turn to the next in the queue.
    fn pass_on(self: Arc<Self>) {
        let mut queue = self;
        loop {
            let next = {
                let mut state = queue.0.lock();
                let Some((_, next)) = state.waiting.pop_first() else {
                    state.is_taken = false;
                    return;
                };
                next
            };

            match next.send(Turn { queue: Some(queue) }) {
                Ok(()) => return,
                // That waiter has given up.
                Err(mut refused) => match refused.queue.take() {
                    Some(back) => queue = back,
                    None => return,
                },
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn turns_go_by_order_and_then_by_arrival_and_past_those_who_left() {
        let queue = Arc::new(TurnQueue::default());
        let served = Arc::new(Mutex::new(Vec::new()));
        let first = queue.wait(9).await;
        let mut tasks = Vec::new();
        for (name, order) in [("late", 3), ("first", 1), ("gone", 2), ("second", 1)] {
            let (queue, served) = (Arc::clone(&queue), Arc::clone(&served));
            tasks.push(tokio::spawn(async move {
                let _turn = queue.wait(order).await;
                served.lock().push(name);
            }));
            tokio::task::yield_now().await;
        }

        tasks.remove(2).abort();
        tokio::task::yield_now().await;
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*served.lock(), ["first", "second", "late"]);
        assert!(queue.wait(9).now_or_never().is_some(), "the last turn has ended");
    }

    #[tokio::test]
    async fn a_turn_given_to_someone_who_leaves_at_that_moment_is_not_lost() {
        let queue = Arc::new(TurnQueue::default());
        let first = queue.wait(0).await;
        let mut leaves = Box::pin(queue.wait(0));
        assert!((&mut leaves).now_or_never().is_none());
        drop(first);
        drop(leaves);
        assert!(queue.wait(0).now_or_never().is_some());
    }
}
