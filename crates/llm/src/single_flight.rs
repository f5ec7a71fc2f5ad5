//! The same call asked for by several at once goes out once: one asks, the others wait for what comes of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::call_key::CallKey;

/// The calls that somebody is making now.
#[derive(Debug, Clone, Default)]
pub(crate) struct SingleFlight(Arc<Mutex<HashMap<CallKey, watch::Receiver<()>>>>);

/// Makes a call alone. Dropping it lets the others look again.
#[derive(Debug)]
pub(crate) struct SingleFlightGuard {
    key: CallKey,
    calls: SingleFlight,
    /// Its end is what the others wait for.
    _news: watch::Sender<()>,
}

impl SingleFlight {
    /// Waits until nobody makes this call, and then is the one who does.
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
