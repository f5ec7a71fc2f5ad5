//! What the calls for one criterion cost.

use assize_llm::{AskError, ChatReply, Usage};
use assize_rubric::Tokens;

/// Calls, tokens and time, failed calls included.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) attempts: u32,
    pub(super) tokens: Tokens,
    pub(super) latency_ms: Option<u64>,
    pub(super) replies: Vec<String>,
}

impl Tally {
    pub(super) fn reply(&mut self, reply: &ChatReply) {
        self.attempts = self.attempts.saturating_add(reply.attempts.max(1));
        self.tokens.add(tokens(reply.total_usage()));
        let millis = u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX);
        self.latency_ms = Some(self.latency_ms.unwrap_or(0).saturating_add(millis));
        let words = match &reply.refusal {
            Some(refusal) if reply.text.trim().is_empty() => refusal,
            _ => &reply.text,
        };
        self.replies.push(words.clone());
    }

    pub(super) fn error(&mut self, error: &AskError) {
        self.attempts = self.attempts.saturating_add(error.attempts);
        let mut usage = error.total_usage();
        if error.failed.is_empty() {
            usage = error.usage.as_deref().copied().unwrap_or_default();
        }
        self.tokens.add(tokens(usage));
    }
}

fn tokens(usage: Usage) -> Tokens {
    Tokens { input: usage.input, cached: usage.cached, output: usage.output }
}
