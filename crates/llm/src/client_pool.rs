//! A growing pool of equal clients, each used by a limited number of requests at once.
//!
//! An HTTP/2 client keeps one connection to a host, and servers allow about 100 requests on a connection at a
//! time. More requests in flight need several clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Hands out the least used client, and makes a new one when all are full.
#[derive(Debug)]
pub(crate) struct ClientPool<T> {
    slots: Mutex<Vec<Arc<PoolSlot<T>>>>,
    per_slot: usize,
    max_slots: usize,
}

#[derive(Debug)]
struct PoolSlot<T> {
    value: T,
    in_use: AtomicUsize,
}

/// A borrowed client. Dropping it returns it.
#[derive(Debug)]
pub(crate) struct PoolLease<T>(Arc<PoolSlot<T>>);

impl<T> ClientPool<T> {
    /// An empty pool. It makes another client once all have `per_slot` borrowers, up to `max_slots` clients.
    pub(crate) fn new(per_slot: usize, max_slots: usize) -> Self {
        Self { slots: Mutex::new(Vec::new()), per_slot, max_slots: max_slots.max(1) }
    }

    /// Borrows the least used client, making one with `build` when all are full.
    pub(crate) fn lease<E>(&self, build: impl FnOnce() -> Result<T, E>) -> Result<PoolLease<T>, E> {
        let mut slots = self.slots.lock();
        let least = slots.iter().min_by_key(|slot| slot.in_use.load(Ordering::Relaxed));
        let slot = match least {
            Some(slot)
                if slot.in_use.load(Ordering::Relaxed) < self.per_slot || slots.len() >= self.max_slots =>
            {
                Arc::clone(slot)
            }
            _ => {
                let slot = Arc::new(PoolSlot { value: build()?, in_use: AtomicUsize::new(0) });
                slots.push(Arc::clone(&slot));
                slot
            }
        };

        slot.in_use.fetch_add(1, Ordering::Relaxed);
        Ok(PoolLease(slot))
    }
}

impl<T> PoolLease<T> {
    pub(crate) fn get(&self) -> &T {
        &self.0.value
    }
}

impl<T> Drop for PoolLease<T> {
    fn drop(&mut self) {
        self.0.in_use.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn grows_on_demand_and_prefers_the_least_used() {
        let pool = ClientPool::new(2, 3);
        let made = AtomicUsize::new(0);
        let lease = || pool.lease(|| Ok::<_, Infallible>(made.fetch_add(1, Ordering::Relaxed))).unwrap();
        let mut leases: Vec<_> = (0..5).map(|_| lease()).collect();
        assert_eq!(leases.iter().map(|l| *l.get()).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
        assert_eq!(*lease().get(), 2);
        drop(leases.remove(0));
        drop(leases.remove(0));
        assert_eq!(*lease().get(), 0);
        assert_eq!(made.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn full_pool_shares_clients_and_survives_a_failed_build() {
        let pool = ClientPool::new(1, 1);
        assert_eq!(pool.lease(|| Err::<u8, _>("no")).err(), Some("no"));
        let first = pool.lease(|| Ok::<_, &str>(7)).unwrap();
        let second = pool.lease(|| Err("not called")).unwrap();
        assert_eq!((*first.get(), *second.get()), (7, 7));
    }
}
