//! What the calls for one criterion cost.

use assize_llm::{Answered, AskError, ModelCard, Usage};
use assize_rubric::{Cost, Tokens};

/// Calls, tokens, money and time, failed calls included.
#[derive(Debug)]
pub(super) struct Tally {
    card: ModelCard,
    pub(super) attempts: u32,
    /// Calls answered from memory.
    pub(super) cached: u32,
    pub(super) tokens: Tokens,
    pub(super) cost: Cost,
    pub(super) latency_ms: Option<u64>,
    pub(super) replies: Vec<String>,
}

impl Tally {
    /// Nothing yet, of a model whose prices are on its card.
    pub(super) fn new(card: ModelCard) -> Self {
        Self {
            card,
            attempts: 0,
            cached: 0,
            tokens: Tokens::default(),
            cost: Cost::ZERO,
            latency_ms: None,
            replies: Vec::new(),
        }
    }

    pub(super) fn reply(&mut self, answered: &Answered) {
        let reply = &answered.reply;
        if answered.recalled {
            self.cached = self.cached.saturating_add(1);
            // Known to have cost nothing now; what it cost once is on the record of the run that paid.
            self.tokens.add(tokens(Usage { input: Some(0), cached: Some(0), output: Some(0) }));
        } else {
            self.attempts = self.attempts.saturating_add(reply.attempts.max(1));
            self.tokens.add(tokens(reply.total_usage()));
            self.cost += self.card.cost_of_reply(reply);
        }
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
        self.cost += self.card.cost_of_error(error);
    }
}

fn tokens(usage: Usage) -> Tokens {
    Tokens { input: usage.input, cached: usage.cached, output: usage.output }
}
