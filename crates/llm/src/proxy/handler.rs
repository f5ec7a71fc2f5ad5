//! Handles a program's requests, and counts them.

use std::collections::HashMap;
use std::time::Duration;

use assize_rubric::{Cost, Tokens};
use parking_lot::Mutex;

use super::setup::ProxySetup;
use crate::error::{AskError, ErrorKind};
use crate::reply::{ChatReply, FinishReason};
use crate::request::ChatRequest;

/// How many draws one repeat may use. The next repeat begins after them.
const DRAWS_PER_REPEAT: u32 = 1 << 16;

/// What a program asked a model, and the outcomes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProxyUsage {
    /// Questions that were accepted.
    pub calls: u32,
    /// Questions that were refused because the program had reached its limit.
    pub refused: u32,
    /// Requests sent for them, including failed ones.
    pub sent: u32,
    /// Questions that were answered from the cache.
    pub recalled: u32,
    /// Questions whose answer the program did not wait for.
    pub abandoned: u32,
    /// Tokens of the requests sent.
    pub tokens: Tokens,
    /// Their cost.
    pub cost: Cost,
    /// Time spent on those that were answered.
    pub latency: Duration,
    /// The model that answered, as its server last named it.
    pub model: Option<String>,
    /// Questions without an answer.
    pub failed: u32,
    /// Error of the first of them.
    pub failure: Option<AskError>,
}

/// Sends a program's requests to the model, up to its limit of calls.
pub(super) struct ProxyHandler {
    pub(super) setup: ProxySetup,
    state: Mutex<HandlerState>,
}

#[derive(Default)]
struct HandlerState {
    usage: ProxyUsage,
    /// Questions that were answered or failed.
    settled: u32,
    /// How often each request was made. The same request is a new draw each time.
    draws: HashMap<blake3::Hash, u32>,
}

impl ProxyHandler {
    pub(super) fn new(setup: ProxySetup) -> Self {
        Self { setup, state: Mutex::default() }
    }

    /// The number of questions accepted so far.
    pub(super) fn calls(&self) -> u32 {
        self.state.lock().usage.calls
    }

    /// Accepts `count` questions, all or none. The error is the reason why not.
    pub(super) fn take(&self, count: u32) -> Result<(), String> {
        let max = self.setup.max_calls;
        let mut state = self.state.lock();
        let taken = state.usage.calls;
        if count > max.saturating_sub(taken) {
            state.usage.refused = state.usage.refused.saturating_add(count);
            let requested = if count == 1 { "one more".to_owned() } else { format!("{count} more") };
            return Err(format!(
                "this program may call the model {max} times (`max_calls`) and has made {taken}; it requested {requested}"
            ));
        }

        state.usage.calls = taken + count;
        Ok(())
    }

    /// Asks a question that was accepted.
    pub(super) async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, AskError> {
        let repeat = self.draw(request);
        let answered = self.setup.ask.ask_repeat(request, repeat).await;
        let card = self.setup.ask.card();
        let mut state = self.state.lock();
        state.settled += 1;

        let usage = &mut state.usage;
        match answered {
            Ok(mut answered) => {
                let reply = &answered.reply;
                usage.model = reply.model.clone().or(usage.model.take());

                if answered.recalled {
                    usage.recalled += 1;
                    usage.tokens.add(Tokens { input: Some(0), cached: Some(0), output: Some(0) });
                } else {
                    let spent = reply.total_usage();
                    let tokens = Tokens { input: spent.input, cached: spent.cached, output: spent.output };
                    usage.tokens.add(tokens);
                    usage.sent = usage.sent.saturating_add(reply.attempts);
                    usage.cost += card.cost_of_reply(reply);

                    usage.latency = usage.latency.saturating_add(reply.latency);
                }

                if let Some(tokens) = reply.cut_at {
                    return Err(usage.failed(beyond_limit(tokens)));
                }

                drop(state);

                if is_whole(&answered.reply) {
                    answered.keep();
                }

                Ok(answered.reply)
            }
            Err(error) => {
                let spent = error.total_usage();
                usage.tokens.add(Tokens { input: spent.input, cached: spent.cached, output: spent.output });
                usage.sent = usage.sent.saturating_add(error.attempts);
                usage.cost += card.cost_of_error(&error);
                Err(usage.failed(error))
            }
        }
    }

    /// The usage so far. Calls in flight count as abandoned, with unknown cost.
    pub(super) fn usage(&self) -> ProxyUsage {
        let state = self.state.lock();
        let mut usage = state.usage.clone();
        let begun: u32 = state.draws.values().fold(0, |sum, count| sum.saturating_add(*count));
        usage.abandoned = begun.saturating_sub(state.settled);

        if usage.abandoned > 0 {
            usage.cost += Cost::UNKNOWN;
        }

        usage
    }

    /// The number of this draw, which is the repeat in the cache key. Draws of different repeats of the work do
    /// not overlap.
    fn draw(&self, request: &ChatRequest) -> u32 {
        // A request consists of strings, numbers and lists, so this does not fail.
        let bytes = serde_json::to_vec(request).unwrap_or_default();
        let mut state = self.state.lock();
        let count = state.draws.entry(blake3::hash(&bytes)).or_default();
        *count += 1;

        self.setup.repeat.saturating_sub(1).saturating_mul(DRAWS_PER_REPEAT).saturating_add(*count)
    }
}

impl ProxyUsage {
    /// Counts a question without an answer, and returns its error.
    fn failed(&mut self, error: AskError) -> AskError {
        self.failed += 1;

        // The end of the run is more important than earlier failures.
        if self.failure.is_none() || error.kind == ErrorKind::Cancelled {
            self.failure = Some(error.clone());
        }

        error
    }
}

/// The error for a reply that was cut off. A program that reads only the text could not notice it.
fn beyond_limit(tokens: u32) -> AskError {
    let message =
        format!("the reply was cut off at the limit of {tokens} tokens; the program can set `max_tokens`");
    AskError::new(ErrorKind::MalformedReply, message)
}

/// Whether the model finished its reply. If not, another draw may be better, so the reply is not stored.
fn is_whole(reply: &ChatReply) -> bool {
    reply.finish == FinishReason::Stop && reply.refusal.is_none() && !reply.text.is_empty()
}
