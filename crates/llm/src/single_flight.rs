//! Single flight: if several callers make the same call, one sends it and the others wait for it to end.
//!
//! The guard carries no result. The callers that waited look into the cache again: the first reply may have been
//! unusable, and then the next caller takes the guard and sends the call. A caller that is dropped, as when a run is
//! cancelled, releases the guard in the same way.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::call_key::CallKey;

/// Calls in progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct SingleFlight(Arc<Mutex<HashMap<CallKey, watch::Receiver<()>>>>);

/// The exclusive right to make a call. Dropping it lets the waiting callers look again.
#[derive(Debug)]
pub(crate) struct SingleFlightGuard {
    key: CallKey,
    calls: SingleFlight,
    /// Dropping this sender wakes those who wait.
    _done: watch::Sender<()>,
}

impl SingleFlight {
    /// Waits until no one else makes this call, and takes the right to make it.
    pub(crate) async fn acquire(&self, key: CallKey) -> SingleFlightGuard {
        loop {
            let mut ended = {
                let mut calls = self.0.lock();
                if let Some(other) = calls.get(&key) {
                    other.clone()
                } else {
                    let (done, ended) = watch::channel(());
                    calls.insert(key, ended);
                    return SingleFlightGuard { key, calls: self.clone(), _done: done };
                }
            };
            // No value is ever sent. The receiver returns an error when the previous caller has dropped its guard.
            let _ = ended.changed().await;
        }
    }
}

impl Drop for SingleFlightGuard {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock();
        calls.remove(&self.key);
    }
}
