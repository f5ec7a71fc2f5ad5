//! The output limit of requests that have none of their own, while spending is limited.
//!
//! A limit can be kept only if each request says how much may be written in reply, and a reply that is cut off is worth
//! nothing. So the limit is far above what judges and targets write, hidden thinking included, and is lowered only to
//! what a model takes or to what is left to be spent.
//!
//! Design: `docs/design/budgets.md`.

use crate::price::ModelCard;
use crate::request::ChatRequest;

/// Limit for a judgement, in tokens: many times what a judge without long thinking writes. Nearly every model
/// accepts it.
const USUAL_LIMIT: u32 = 8192;

/// Limit for a reply of unknown length, in tokens.
const UNKNOWN_LIMIT: u32 = 16_384;

/// Added for models that think, in tokens.
const THINKING_TOKENS: u32 = 32_768;

/// The limit is this many times the length that the caller expects of a long reply.
const EXPECTED_LENGTH_FACTOR: u32 = 4;

/// The smallest limit worth sending a request for if no length is expected, in tokens: without and with
/// thinking.
const MIN_USEFUL_TOKENS: u32 = 512;
const MIN_USEFUL_THINKING_TOKENS: u32 = 4096;

/// The next reply must be allowed this much of the longest one so far, in percent.
const NEXT_LENGTH_PERCENT: u64 = 150;

/// After this many replies the limit is derived from the longest of them, and is this many times as long.
const MIN_REPLIES: u64 = 16;
const LONGEST_FACTOR: u64 = 8;

/// Lengths of a model's replies so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReplyLengthStats {
    pub(crate) replies: u64,
    /// Tokens of the longest reply.
    pub(crate) longest: u64,
}

/// Limits of a reply's length, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputLimit {
    /// The limit if the budget allows it.
    pub most: u32,
    /// The smallest limit worth sending a request for; at most `most`.
    pub least: u32,
}

impl OutputLimit {
    /// A single limit that can't be lowered.
    pub(crate) const fn exactly(tokens: u32) -> Self {
        Self { most: tokens, least: tokens }
    }

    /// Caps both limits.
    pub(crate) fn within(self, tokens: u32) -> Self {
        Self { most: self.most.min(tokens), least: self.least.min(tokens) }
    }

    /// The larger value of each limit.
    #[must_use]
    pub fn larger_of(self, other: Self) -> Self {
        Self { most: self.most.max(other.most), least: self.least.max(other.least) }
    }

    /// Requires room for a reply somewhat longer than this one.
    #[must_use]
    pub fn after_reply_of(self, tokens: u64) -> Self {
        let longer = u32::try_from(tokens.saturating_mul(NEXT_LENGTH_PERCENT) / 100).unwrap_or(u32::MAX);
        Self { least: self.least.max(longer).min(self.most), ..self }
    }

    /// Limits of the reply to a request without a limit of its own.
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
            (None, false) => MIN_USEFUL_TOKENS,
            (_, true) => MIN_USEFUL_THINKING_TOKENS,
        };

        let limit = Self { most, least: short.min(most) }.after_reply_of(stats.longest);
        match card.context_tokens {
            None => limit,
            // The estimate is high, so a request that seems to leave too little room may leave enough.
            Some(all) => {
                let left = all.saturating_sub(card.estimator.request(request));
                limit.within(u32::try_from(left).unwrap_or(u32::MAX).max(limit.least))
            }
        }
    }
}

/// The limits of the first reply to a request while spending is limited: the request's own limit, or an ample
/// one.
pub fn reply_limit(model: &str, card: ModelCard, request: &ChatRequest) -> OutputLimit {
    request.max_output_tokens.map_or_else(
        || OutputLimit::for_request(model, card, request, ReplyLengthStats::default()),
        OutputLimit::exactly,
    )
}

/// The limit before any reply has been seen.
fn usual(request: &ChatRequest, thinks: bool) -> u32 {
    let said = match request.expected_output {
        Some(expected) => expected.saturating_mul(EXPECTED_LENGTH_FACTOR).max(USUAL_LIMIT),
        None => UNKNOWN_LIMIT,
    };
    said.saturating_add(if thinks { THINKING_TOKENS } else { 0 })
}

/// The limit derived from the replies so far. A lower one allows more requests in flight within a budget. If a
/// reply is cut off there, the request is sent again with the full limit.
fn limit_from_history(request: &ChatRequest, thinks: bool, stats: ReplyLengthStats) -> u32 {
    if stats.replies < MIN_REPLIES {
        return u32::MAX;
    }

    let least = request.expected_output.unwrap_or(MIN_USEFUL_TOKENS).saturating_mul(EXPECTED_LENGTH_FACTOR);
    let least = least.saturating_add(if thinks { MIN_USEFUL_THINKING_TOKENS } else { 0 });
    u32::try_from(stats.longest.saturating_mul(LONGEST_FACTOR)).unwrap_or(u32::MAX).max(least)
}

/// Whether a model thinks before it replies, judged by its name. Names prove nothing, so this only affects the
/// output limit.
pub fn thinks(model: &str) -> bool {
    /// Whole parts of names, or their beginnings; parts are separated by `/`, `:` and the like.
    const NAMES: [&str; 19] = [
        "o1", "o3", "o4", "gpt-5", "gpt-oss", "gemini-2.5", "gemini-3", "grok-3-mini", "grok-4", "qwq",
        "qwen3", "qwen-3", "magistral", "glm-4.5", "glm-4.6", "minimax-m", "deepseek-r", "exaone-deep",
        "seed-oss",
    ];

    /// Words anywhere in a name.
    const WORDS: [&str; 4] = ["think", "reason", "-r1", "nemotron"];

    let model = model.to_ascii_lowercase();
    if model.contains("gpt-5-chat") || model.contains("non-reasoning") || model.contains("no-think") {
        return false;
    }

    let begins = |part: &str, name: &str| {
        part.strip_prefix(name).is_some_and(|rest| {
            // `o1` and `o1-mini`, but not another word that begins with the same letters.
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
