//! Probe for log-probabilities: one request finds out if a model gives them before others are paid for.
//!
//! A question that asks for them is worth nothing without them. Until a model has told some, or has turned out to tell
//! none, one question at a time is asked; if none come of it, no further one is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

use crate::reply::{ChatReply, FinishReason};

/// Probes of the models of one server.
#[derive(Debug, Default)]
pub(crate) struct LogprobsProbes(Mutex<BTreeMap<String, Arc<LogprobsProbe>>>);

#[derive(Debug, Default)]
struct LogprobsProbe {
    /// Outcome once it is known: `Ok` if the model gives log-probabilities, else the reason.
    found: OnceLock<Result<(), String>>,
    /// Set once a probe was inconclusive, so that later requests no longer wait for it.
    tried: Arc<Gate<bool>>,
}

/// Turn of one request. Dropping it lets the others go.
#[derive(Debug)]
pub(crate) struct ProbeTurn {
    probe: Arc<LogprobsProbe>,
    first: Option<OwnedMutexGuard<bool>>,
}

impl LogprobsProbes {
    /// Waits for the first question to this model to end, if there is one on its way.
    ///
    /// # Errors
    /// When the model is known to tell none: the reason.
    pub(crate) async fn turn(&self, model: &str) -> Result<ProbeTurn, String> {
        let probe = {
            let mut probes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(probes.entry(model.to_owned()).or_default())
        };
        let mut first = None;
        if probe.found.get().is_none() {
            let gate = Arc::clone(&probe.tried).lock_owned().await;
            first = Some(gate).filter(|tried| !**tried);
        }

        match probe.found.get() {
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(())) => Ok(ProbeTurn { probe, first: None }),
            None => Ok(ProbeTurn { probe, first }),
        }
    }
}

impl ProbeTurn {
    /// Lets the others ask, since this question takes longer than usual.
    pub(crate) fn pass_on(&mut self) {
        if let Some(mut tried) = self.first.take() {
            *tried = true;
        }
    }

    /// The model said that it tells none, in these words.
    pub(crate) fn refused(&self, words: &str) {
        // What was found first stays.
        let _ = self.probe.found.set(Err(words.to_owned()));
    }

    /// The model replied. A reply that is no whole answer says nothing: servers leave log-probabilities out of those.
    pub(crate) fn replied(&self, reply: &ChatReply) {
        if self.probe.found.get().is_some() {
            return;
        }

        let whole = match &reply.finish {
            FinishReason::Stop => true,
            FinishReason::Other(word) => word == "unknown",
            FinishReason::Length | FinishReason::ContentFilter | FinishReason::ToolCall => false,
        };
        let whole = whole && reply.refusal.is_none() && !reply.text.trim().is_empty();
        if reply.logprobs().is_some() {
            let _ = self.probe.found.set(Ok(()));
        } else if whole {
            self.refused("it replied without them");
        }
    }
}

impl Drop for ProbeTurn {
    fn drop(&mut self) {
        self.pass_on();
    }
}
