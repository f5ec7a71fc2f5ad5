//! Single flight: of several callers with the same call at once, one sends it and the others wait for the outcome.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::call_key::CallKey;

/// Calls in progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct SingleFlight(Arc<Mutex<HashMap<CallKey, watch::Receiver<()>>>>);

/// Exclusive right to make a call. Dropping it lets the others look again.
#[derive(Debug)]
pub(crate) struct SingleFlightGuard {
    key: CallKey,
    calls: SingleFlight,
    /// Its end is what the others wait for.
    _news: watch::Sender<()>,
}

impl SingleFlight {
    /// Waits until nobody makes this call, and takes the right to make it.
    pub(crate) async fn acquire(&self, key: CallKey) -> SingleFlightGuard {
        loop {
            let mut ended = {
                let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(other) = calls.get(&key) {
                    other.clone()
                } else {
                    let (news, ended) = watch::channel(());
                    calls.insert(key, ended);
                    return SingleFlightGuard { key, calls: self.clone(), _news: news };
                }
            };
            // Nothing is ever sent: it is an error when the one before has let go.
            let _ = ended.changed().await;
        }
    }
}

impl Drop for SingleFlightGuard {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.remove(&self.key);
    }
}
