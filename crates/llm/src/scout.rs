//! Whether a model tells log-probabilities, found out by one question before others are paid for.
//!
//! A question that asks for them is worth nothing without them. Until a model has told some, or has turned out to tell
//! none, one question at a time is asked; if none come of it, no further one is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

use crate::reply::{ChatReply, Finish};

/// What is known of the models of one server.
#[derive(Debug, Default)]
pub(crate) struct Scouts(Mutex<BTreeMap<String, Arc<Scout>>>);

#[derive(Debug, Default)]
struct Scout {
    /// Why the model tells none, once that is known; `Ok` when it does.
    found: OnceLock<Result<(), String>>,
    /// Whether some question has been asked and told nothing, such as one that failed: waiting on would be in the way.
    tried: Arc<Gate<bool>>,
}

/// The turn of one question. Dropping it lets the others ask.
#[derive(Debug)]
pub(crate) struct Turn {
    scout: Arc<Scout>,
    first: Option<OwnedMutexGuard<bool>>,
}

impl Scouts {
    /// Waits for the first question to this model to end, if there is one on its way.
    ///
    /// # Errors
    /// When the model is known to tell none: the reason.
    pub(crate) async fn turn(&self, model: &str) -> Result<Turn, String> {
        let scout = {
            let mut scouts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(scouts.entry(model.to_owned()).or_default())
        };
        let mut first = None;
        if scout.found.get().is_none() {
            let gate = Arc::clone(&scout.tried).lock_owned().await;
            first = Some(gate).filter(|tried| !**tried);
        }
        match scout.found.get() {
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(())) => Ok(Turn { scout, first: None }),
            None => Ok(Turn { scout, first }),
        }
    }
}

impl Turn {
    /// Lets the others ask, since this question takes longer than usual.
    pub(crate) fn pass_on(&mut self) {
        if let Some(mut tried) = self.first.take() {
            *tried = true;
        }
    }

    /// The model said that it tells none, in these words.
    pub(crate) fn refused(&self, words: &str) {
        // What was found first stays.
        let _ = self.scout.found.set(Err(words.to_owned()));
    }

    /// The model replied. A reply that is no whole answer says nothing: servers leave log-probabilities out of those.
    pub(crate) fn replied(&self, reply: &ChatReply) {
        if self.scout.found.get().is_some() {
            return;
        }
        let whole = match &reply.finish {
            Finish::Stop => true,
            Finish::Other(word) => word == "unknown",
            Finish::Length | Finish::ContentFilter | Finish::ToolCall => false,
        };
        let whole = whole && reply.refusal.is_none() && !reply.text.trim().is_empty();
        if reply.logprobs().is_some() {
            let _ = self.scout.found.set(Ok(()));
        } else if whole {
            self.refused("it was asked for them and replied without");
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pass_on();
    }
}
