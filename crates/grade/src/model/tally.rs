//! Usage of the calls for one criterion.

use assize_llm::{AskError, CacheableReply, ModelCard, TokenCounts};
use assize_rubric::{JudgingUsage, Tokens};

use super::answer::MAX_REPLY_BYTES;

/// Usage of the calls to a model, including failed calls.
#[derive(Debug)]
pub(super) struct UsageTally {
    card: ModelCard,
    pub(super) spent: JudgingUsage,
}

impl UsageTally {
    /// Starts at zero. `card` has the prices of the model.
    pub(super) fn new(card: ModelCard) -> Self {
        Self { card, spent: JudgingUsage::default() }
    }

    pub(super) fn add_reply(&mut self, answered: &CacheableReply) {
        let (reply, spent) = (&answered.reply, &mut self.spent);
        if answered.recalled {
            spent.cached_calls = spent.cached_calls.saturating_add(1);
            // A cached reply costs nothing now; its cost is recorded in the run that paid for it.
            spent.tokens.add(token_counts(TokenCounts { input: Some(0), cached: Some(0), output: Some(0) }));
        } else {
            spent.attempts = spent.attempts.saturating_add(reply.attempts.max(1));
            spent.tokens.add(token_counts(reply.total_usage()));
            spent.cost += self.card.cost_of_reply(reply);
        }

        // The time that a reply of a batch took is unknown.
        if answered.recalled || reply.attempts > 0 && !reply.batched {
            let millis = u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX);
            spent.latency_ms = Some(spent.latency_ms.unwrap_or(0).saturating_add(millis));
        }

        let words = match &reply.refusal {
            Some(refusal) if reply.text.trim().is_empty() => refusal,
            _ => &reply.text,
        };
        // A reply that is too long to be read is not stored in full either.
        spent.replies.push(words[..words.floor_char_boundary(MAX_REPLY_BYTES)].to_owned());
    }

    pub(super) fn add_error(&mut self, error: &AskError) {
        let spent = &mut self.spent;
        spent.attempts = spent.attempts.saturating_add(error.attempts);

        let mut usage = error.total_usage();
        if error.failed.is_empty() {
            usage = error.usage.as_deref().copied().unwrap_or_default();
        }

        spent.tokens.add(token_counts(usage));
        spent.cost += self.card.cost_of_error(error);
    }
}

fn token_counts(usage: TokenCounts) -> Tokens {
    Tokens { input: usage.input, cached: usage.cached, output: usage.output }
}
