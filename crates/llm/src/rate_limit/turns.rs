//! The right to be the next to send a request: one holder at a time, by order and then by arrival.
//!
//! A semaphore serves waiters by arrival. Requests of earlier cases have to come first, even if they arrive later, so
//! the waiters are in an ordered map. In a service, the clients take turns: the thousand requests of one must not come
//! before the first of another. A holder hands its turn to the next waiter through a channel. The turn travels in the
//! message: if the waiter is dropped before it receives the turn, dropping the message passes the turn on, so that no
//! turn is lost.

use std::collections::BTreeMap;
use std::ops::Bound;
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
    /// The waiters of each client. No client has an empty map.
    waiting: BTreeMap<ClientId, BTreeMap<TurnPlace, oneshot::Sender<Turn>>>,
    /// The client that was served last.
    last: ClientId,
}

/// The client of a request, if the process serves several.
pub(super) type ClientId = Option<u64>;

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
    /// Waits for a turn. The clients are served one after the other. Of the requests of a client, the one with the lowest
    /// order is next; among equal ones, the first that waited. The wait begins with the call.
    pub(super) fn wait(self: &Arc<Self>, client: ClientId, order: u64) -> impl Future<Output = Turn> + use<> {
        let mut state = self.0.lock();
        let waiting = if state.is_taken {
            let (give, given) = oneshot::channel();
            state.arrivals += 1;
            let place = TurnPlace { order, arrival: state.arrivals };
            state.waiting.entry(client).or_default().insert(place, give);
            Err(given)
        } else {
            state.is_taken = true;
            state.last = client;
            Ok(Turn { queue: Some(Arc::clone(self)) })
        };
        drop(state);

        async move {
            match waiting {
                Ok(turn) => turn,
                // A sender is only dropped after it has sent, so there always is a turn.
                Err(given) => given.await.unwrap_or(Turn { queue: None }),
            }
        }
    }

    /// Whether a client waits for which this holds.
    pub(super) fn is_any_waiting(&self, holds: impl Fn(ClientId) -> bool) -> bool {
        self.0.lock().waiting.keys().any(|client| holds(*client))
    }

    /// Gives the turn to the next in the queue.
    fn pass_on(self: Arc<Self>) {
        let mut queue = self;
        loop {
            let next = {
                let mut state = queue.0.lock();
                let Some(next) = state.next() else {
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

impl TurnState {
    /// Takes the next waiter out of the queue.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let later = (Bound::Excluded(self.last), Bound::Unbounded);
        let client = *self.waiting.range(later).next().or_else(|| self.waiting.iter().next())?.0;
        let own = self.waiting.get_mut(&client)?;
        let (_, next) = own.pop_first()?;
        if own.is_empty() {
            self.waiting.remove(&client);
        }

        self.last = client;
        Some(next)
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

    /// The order in which waiters are served. The waiter named `gone` gives up.
    async fn served(waiters: &[(&'static str, ClientId, u64)]) -> Vec<&'static str> {
        let queue = Arc::new(TurnQueue::default());
        let served = Arc::new(Mutex::new(Vec::new()));
        let first = queue.wait(None, 9).await;
        let mut tasks = Vec::new();
        for (name, client, order) in waiters.iter().copied() {
            let (queue, served) = (Arc::clone(&queue), Arc::clone(&served));
            let task = tokio::spawn(async move {
                let _turn = queue.wait(client, order).await;
                served.lock().push(name);
            });
            tokio::task::yield_now().await;
            if name == "gone" {
                task.abort();
            } else {
                tasks.push(task);
            }
        }

        tokio::task::yield_now().await;
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert!(queue.wait(None, 0).now_or_never().is_some(), "the turn is free again");
        served.lock().clone()
    }

    #[tokio::test]
    async fn turns_go_by_order_and_then_by_arrival_and_past_those_who_left() {
        let waiters = [("late", None, 3), ("first", None, 1), ("gone", None, 2), ("second", None, 1)];
        assert_eq!(served(&waiters).await, ["first", "second", "late"]);
    }

    #[tokio::test]
    async fn clients_take_turns() {
        let (one, two, three) = (Some(1), Some(2), Some(3));
        let waiters =
            [("a", one, 0), ("b", one, 0), ("c", one, 0), ("d", two, 0), ("e", three, 5), ("f", three, 4)];
        assert_eq!(served(&waiters).await, ["a", "d", "f", "b", "e", "c"]);
    }

    #[tokio::test]
    async fn a_turn_given_to_someone_who_leaves_at_that_moment_is_not_lost() {
        let queue = Arc::new(TurnQueue::default());
        let first = queue.wait(None, 0).await;
        let mut leaves = Box::pin(queue.wait(None, 0));
        assert!((&mut leaves).now_or_never().is_none());
        drop(first);
        drop(leaves);
        assert!(queue.wait(None, 0).now_or_never().is_some());
    }
}
