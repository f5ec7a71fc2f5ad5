//! The same call asked for by several at once goes out once: one asks, the others wait for what comes of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::identity::CallKey;

/// The calls that somebody is making now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<HashMap<CallKey, watch::Receiver<()>>>>);

/// Makes a call alone. Dropping it lets the others look again.
#[derive(Debug)]
pub(crate) struct Flight {
    key: CallKey,
    flights: Flights,
    /// Its end is what the others wait for.
    _news: watch::Sender<()>,
}

impl Flights {
    /// Waits until nobody makes this call, and then is the one who does.
    pub(crate) async fn board(&self, key: CallKey) -> Flight {
        loop {
            let mut ended = {
                let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(other) = flights.get(&key) {
                    other.clone()
                } else {
                    let (news, ended) = watch::channel(());
                    flights.insert(key, ended);
                    return Flight { key, flights: self.clone(), _news: news };
                }
            };
            // Nothing is ever sent: it is an error when the one before has let go.
            let _ = ended.changed().await;
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut flights = self.flights.0.lock().unwrap_or_else(PoisonError::into_inner);
        flights.remove(&self.key);
    }
}
