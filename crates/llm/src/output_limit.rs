//! Limit of a reply's length where the request has none and spending is limited.
//!
//! A limit can be kept only if each request says how much may be written in reply, and a reply that is cut off is worth
//! nothing. So the limit is far above what judges and targets write, hidden thinking included, and is lowered only to
//! what a model takes or to what is left to be spent.
//!
//! Design: `docs/design/budgets.md`.

use crate::price::ModelCard;
use crate::request::ChatRequest;

/// Tokens of a judgement at most: many times what a judge writes that does not think for long. Nearly every model takes
/// such a limit.
const USUAL: u32 = 8192;

/// Tokens of a reply of which nobody knows how long it will be.
const UNKNOWN: u32 = 16_384;

/// Tokens that a model thinks for beside what it says.
const THOUGHT: u32 = 32_768;

/// Factor from the length that the caller expects of a long reply to its limit.
const AMPLE: u32 = 4;

/// Tokens that are worth sending a request for, where the asker expects nothing: a short answer, and one with thought.
const SHORT: u32 = 512;
const SHORT_THOUGHT: u32 = 4096;

/// Length that the next reply must be allowed, in percent of the longest so far.
const LONGER: u64 = 150;

/// Replies after which the longest of them says something about the others, and how many times as long as that one they
/// may then be.
const TELLING: u64 = 16;
const TIMES_LONGEST: u64 = 8;

/// Lengths of a model's replies so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReplyLengthStats {
    pub(crate) replies: u64,
    /// Tokens of the longest.
    pub(crate) longest: u64,
}

/// Limits of a reply's length, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputLimit {
    /// Limit where the budget allows it.
    pub most: u32,
    /// The least that makes asking worth it, at most `most`.
    pub least: u32,
}

impl OutputLimit {
    /// One limit that is not negotiable.
    pub(crate) const fn exactly(tokens: u32) -> Self {
        Self { most: tokens, least: tokens }
    }

    /// Caps both limits.
    pub(crate) fn within(self, tokens: u32) -> Self {
        Self { most: self.most.min(tokens), least: self.least.min(tokens) }
    }

    /// Returns the larger of both limits each.
    #[must_use]
    pub fn larger_of(self, other: Self) -> Self {
        Self { most: self.most.max(other.most), least: self.least.max(other.least) }
    }

    /// Allows for a reply that is somewhat longer than the longest one so far.
    #[must_use]
    pub fn after_reply_of(self, tokens: u64) -> Self {
        let longer = u32::try_from(tokens.saturating_mul(LONGER) / 100).unwrap_or(u32::MAX);
        Self { least: self.least.max(longer).min(self.most), ..self }
    }

    /// Limits of a reply to a request without a limit of its own.
    pub(crate) fn for_request(
        model: &str,
        card: ModelCard,
        request: &ChatRequest,
        stats: ReplyLengthStats,
    ) -> Self {
        let thinks = thinks(model);
        let most = card
            .max_output_tokens
            .unwrap_or_else(|| usual(request, thinks).min(limit_from_history(request, thinks, stats)));
        let short = match (request.expected_output, thinks) {
            (Some(expected), false) => expected,
            (None, false) => SHORT,
            (_, true) => SHORT_THOUGHT,
        };

        let limit = Self { most, least: short.min(most) }.after_reply_of(stats.longest);
        match card.context_tokens {
            None => limit,
            // The estimate is high, so a request that seems to leave too little may leave enough.
            Some(all) => {
                let left = all.saturating_sub(card.estimator.request(request));
                limit.within(u32::try_from(left).unwrap_or(u32::MAX).max(limit.least))
            }
        }
    }
}

/// The limits that the first reply to a request gets where what is spent is limited: the request's own, else an ample one.
/// `model` is the model's name.
pub fn reply_limit(model: &str, card: ModelCard, request: &ChatRequest) -> OutputLimit {
    request.max_output_tokens.map_or_else(
        || OutputLimit::for_request(model, card, request, ReplyLengthStats::default()),
        OutputLimit::exactly,
    )
}

/// Limit before any reply has been seen.
fn usual(request: &ChatRequest, thinks: bool) -> u32 {
    let said = match request.expected_output {
        Some(expected) => expected.saturating_mul(AMPLE).max(USUAL),
        None => UNKNOWN,
    };
    said.saturating_add(if thinks { THOUGHT } else { 0 })
}

/// Limit derived from the replies so far: a lower one lets more requests be in flight within a budget. A reply that is
/// cut off there is asked for again with the full limit.
fn limit_from_history(request: &ChatRequest, thinks: bool, stats: ReplyLengthStats) -> u32 {
    if stats.replies < TELLING {
        return u32::MAX;
    }

    let least = request.expected_output.unwrap_or(SHORT).saturating_mul(AMPLE);
    let least = least.saturating_add(if thinks { SHORT_THOUGHT } else { 0 });
    u32::try_from(stats.longest.saturating_mul(TIMES_LONGEST)).unwrap_or(u32::MAX).max(least)
}

/// True if a model is known to think before it replies, by its name. Names say nothing for certain: this decides only
/// how much room there is for it.
pub fn thinks(model: &str) -> bool {
    /// Names, or beginnings of names, between `/`, `:` and the like.
    const NAMES: [&str; 19] = [
        "o1", "o3", "o4", "gpt-5", "gpt-oss", "gemini-2.5", "gemini-3", "grok-3-mini", "grok-4", "qwq",
        "qwen3", "qwen-3", "magistral", "glm-4.5", "glm-4.6", "minimax-m", "deepseek-r", "exaone-deep",
        "seed-oss",
    ];

    /// Words that stand anywhere in a name.
    const WORDS: [&str; 4] = ["think", "reason", "-r1", "nemotron"];

    let model = model.to_ascii_lowercase();
    if model.contains("gpt-5-chat") || model.contains("non-reasoning") || model.contains("no-think") {
        return false;
    }

    let begins = |part: &str, name: &str| {
        part.strip_prefix(name).is_some_and(|rest| {
            // `o1-mini` and `o1`, and no other word that begins like it.
            name.len() > 2 || !rest.starts_with(|next: char| next.is_ascii_alphanumeric())
        })
    };
    model.split(['/', ':', '@', ' ']).any(|part| NAMES.iter().any(|name| begins(part, name)))
        || WORDS.iter().any(|word| model.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ChatMessage;

    fn expecting(expected_output: Option<u32>) -> ChatRequest {
        ChatRequest { expected_output, ..ChatRequest::new(vec![ChatMessage::user("why")]) }
    }

    #[test]
    fn models_that_think_are_known_by_their_names() {
        for name in [
            "o3", "o4-mini", "openai/gpt-5-mini", "deepseek-r1:8b", "gemini-2.5-pro", "qwen3:30b",
            "x-thinking",
        ] {
            assert!(thinks(name), "{name}");
        }
        for name in [
            "gpt-4o", "o365-helper", "gpt-5-chat-latest", "claude-sonnet-4-5", "llama-3.1-8b", "opus",
            "judge-1",
        ] {
            assert!(!thinks(name), "{name}");
        }
    }

    #[test]
    fn output_limit_leaves_ample_room_for_expected_output_and_reasoning() {
        let limit = |model, expected| {
            OutputLimit::for_request(
                model,
                ModelCard::default(),
                &expecting(expected),
                ReplyLengthStats::default(),
            )
        };
        assert_eq!(limit("gpt-4o", Some(500)), OutputLimit { most: 8192, least: 500 });
        assert_eq!(limit("gpt-4o", Some(10_000)), OutputLimit { most: 40_000, least: 10_000 });
        assert_eq!(limit("gpt-4o", None), OutputLimit { most: 16_384, least: 512 });
        assert_eq!(limit("o3", None), OutputLimit { most: 49_152, least: 4096 });
        assert_eq!(limit("o3", Some(500)), OutputLimit { most: 40_960, least: 4096 });
    }

    #[test]
    fn explicit_output_limit_holds_and_long_replies_raise_the_expectation() {
        let stats = |longest| ReplyLengthStats { replies: 3, longest };
        let limit =
            |card, longest| OutputLimit::for_request("gpt-4o", card, &expecting(Some(500)), stats(longest));
        let wanted = ModelCard { max_output_tokens: Some(300), ..ModelCard::default() };
        assert_eq!(limit(wanted, 0), OutputLimit::exactly(300));
        assert_eq!(limit(ModelCard::default(), 2000), OutputLimit { most: 8192, least: 3000 });
        assert_eq!(limit(ModelCard::default(), 90_000).least, 8192);
        assert_eq!(limit(ModelCard::default(), 0).within(400), OutputLimit::exactly(400));
    }

    #[test]
    fn reply_length_stats_lower_and_raise_the_output_limit() {
        let most = |model, expected, longest| {
            let stats = ReplyLengthStats { replies: 16, longest };
            OutputLimit::for_request(model, ModelCard::default(), &expecting(expected), stats).most
        };
        assert_eq!(most("gpt-4o", Some(500), 100), 2000);
        assert_eq!(most("gpt-4o", Some(500), 300), 2400);
        assert_eq!(most("gpt-4o", Some(500), 2000), 8192);
        assert_eq!((most("o3", Some(500), 700), most("o3", Some(500), 2000)), (6096, 16_000));
        assert_eq!((most("gpt-4o", None, 100), most("gpt-4o", None, 900)), (2048, 7200));
    }

    #[test]
    fn request_and_output_limit_fit_into_the_context_window() {
        let card = |tokens| ModelCard { context_tokens: Some(tokens), ..ModelCard::default() };
        let request = expecting(Some(500));
        assert_eq!(
            OutputLimit::for_request("m", card(400), &request, ReplyLengthStats::default()),
            OutputLimit::exactly(500)
        );
        let card = card(1000);
        let read = card.estimator.request(&request);
        assert_eq!(
            u64::from(OutputLimit::for_request("m", card, &request, ReplyLengthStats::default()).most) + read,
            1000
        );
        assert_eq!(
            reply_limit("m", card, &ChatRequest { max_output_tokens: Some(7), ..request }),
            OutputLimit::exactly(7)
        );
    }
}
