//! Finds out with one request whether a model returns log-probabilities, so that only this one is paid for if it does
//! not.
//!
//! A question that needs them is useless without them. Until it is known whether a model returns any, one
//! question at a time is sent; if it does not, no further one is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

use crate::reply::{ChatReply, FinishReason};

/// Probes of the models of one server.
#[derive(Debug, Default)]
pub(crate) struct LogprobsProbes(Mutex<BTreeMap<String, Arc<LogprobsProbe>>>);

#[derive(Debug, Default)]
struct LogprobsProbe {
    /// `Ok` if the model returns log-probabilities, else the reason why not. Not set until that is known.
    found: OnceLock<Result<(), String>>,
    /// True once a probe was inconclusive, so that later requests no longer wait for one.
    tried: Arc<Gate<bool>>,
}

/// The turn of one request to probe. Dropping it lets the next one continue.
#[derive(Debug)]
pub(crate) struct ProbeTurn {
    probe: Arc<LogprobsProbe>,
    first: Option<OwnedMutexGuard<bool>>,
}

impl LogprobsProbes {
    /// Waits for the first question to this model to end, if one is in flight.
    ///
    /// # Errors
    /// If the model is known not to return any: the reason.
    pub(crate) async fn turn(&self, model: &str) -> Result<ProbeTurn, String> {
        let probe = {
            let mut probes = self.0.lock();
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
    /// Lets the others send their requests, because this question takes longer than usual.
    pub(crate) fn pass_on(&mut self) {
        if let Some(mut tried) = self.first.take() {
            *tried = true;
        }
    }

    /// The model refused log-probabilities with this message.
    pub(crate) fn refused(&self, words: &str) {
        // What was found first is kept.
        let _ = self.probe.found.set(Err(words.to_owned()));
    }

    /// The model replied. An incomplete reply proves nothing: servers leave log-probabilities out of those.
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
