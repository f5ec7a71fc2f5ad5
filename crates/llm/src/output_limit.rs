//! The output limit of requests that set none.
//!
//! The length of a judge's reply is known in advance, and a model that does not stop blocks all other requests to a
//! small server. So a judge request is limited to several times the length of a long reply, plus hidden thinking. A
//! reply that is cut off there is useless, so the request is sent once more with a larger limit. Answers of targets are
//! limited only if there is a budget: a budget can be kept only if the reply to each request has a maximum.
//!
//! Design: `docs/design/budgets.md`.

use crate::price::ModelCard;
use crate::request::ChatRequest;

/// The smallest output limit for the second attempt of a judge request, in tokens. Nearly every model accepts it.
const AMPLE_LIMIT: u32 = 8192;

/// Limit for a reply of unknown length, in tokens.
const UNKNOWN_LIMIT: u32 = 16_384;

/// Added for models that think, in tokens.
pub(crate) const THINKING_TOKENS: u32 = 32_768;

/// The limit is this many times the length of a long reply, as the caller expects it.
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

/// How large the output limit of a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyRoom {
    /// As much as replies usually need.
    Usual,
    /// More, because a reply was cut off in its text, or can't be asked for again.
    More,
    /// More, including hidden thinking: a reply was cut off before its text was long.
    Thinking,
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

    /// Limits of the reply to a request that sets no limit.
    pub(crate) fn for_request(
        model: &str,
        card: ModelCard,
        request: &ChatRequest,
        stats: ReplyLengthStats,
        room: ReplyRoom,
    ) -> Self {
        let thinks = thinks(model) || room == ReplyRoom::Thinking;
        let most = card.max_output_tokens.unwrap_or_else(|| match room {
            ReplyRoom::Usual => usual(request, thinks, stats).min(limit_from_history(request, thinks, stats)),
            ReplyRoom::More | ReplyRoom::Thinking => ample(request, thinks),
        });
        let short = match (request.expected_output, thinks) {
            (Some(expected), false) => expected,
            (None, false) => MIN_USEFUL_TOKENS,
            (_, true) => MIN_USEFUL_THINKING_TOKENS,
        };

        let limit = Self { most, least: short.min(most) }.after_reply_of(stats.longest);
        match card.context_tokens {
            None => limit,
            // The estimate is high, so there may be enough room left even if it seems too little.
            Some(all) => {
                let left = all.saturating_sub(card.estimator.request(request));
                limit.within(u32::try_from(left).unwrap_or(u32::MAX).max(limit.least))
            }
        }
    }
}

/// The limits of the first reply to a request: the request's own limit, or the usual one.
pub fn reply_limit(model: &str, card: ModelCard, request: &ChatRequest) -> OutputLimit {
    let stats = ReplyLengthStats::default();
    request.max_output_tokens.map_or_else(
        || OutputLimit::for_request(model, card, request, stats, ReplyRoom::Usual),
        OutputLimit::exactly,
    )
}

/// The limit of a first attempt. Where a longer reply was seen, there is room for one twice as long, up to the limit of
/// the second attempt.
fn usual(request: &ChatRequest, thinks: bool, stats: ReplyLengthStats) -> u32 {
    let expected = request.expected_output.map_or(UNKNOWN_LIMIT, several_times);
    let expected = expected.saturating_add(if thinks { THINKING_TOKENS } else { 0 });
    let seen = u32::try_from(stats.longest.saturating_mul(2)).unwrap_or(u32::MAX);
    // A reply longer than models without thinking need shows that this one thinks.
    let thinks = thinks || stats.longest > u64::from(ample(request, false));
    expected.max(seen.min(ample(request, thinks)))
}

/// The limit of a second attempt.
fn ample(request: &ChatRequest, thinks: bool) -> u32 {
    let expected = request.expected_output.map_or(UNKNOWN_LIMIT, several_times);
    expected.saturating_mul(2).max(AMPLE_LIMIT).saturating_add(if thinks { THINKING_TOKENS } else { 0 })
}

fn several_times(expected: u32) -> u32 {
    expected.saturating_mul(EXPECTED_LENGTH_FACTOR)
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
    /// Families of models, and the first version that thinks. The version follows the name.
    const FAMILIES: [(&str, f64); 12] = [
        ("gpt-", 5.0),
        ("gemini-", 2.5),
        ("claude-", 4.6),
        ("claude-opus-", 4.6),
        ("claude-sonnet-", 4.6),
        ("claude-haiku-", 4.6),
        ("grok-", 4.0),
        ("qwen", 3.0),
        ("qwen-", 3.0),
        ("glm-", 4.5),
        ("deepseek-v", 3.1),
        ("kimi-k", 2.5),
    ];

    /// Beginnings of parts of names. Parts are separated by characters such as `/` and `:`.
    const NAMES: [&str; 9] = [
        "gpt-oss", "grok-3-mini", "qwq", "magistral", "minimax-m", "deepseek-r", "exaone-deep", "seed-oss",
        "claude-mythos",
    ];

    /// Words anywhere in a name.
    const WORDS: [&str; 4] = ["think", "reason", "-r1", "nemotron"];

    /// Words in the names of models that don't think although others of their family do.
    const NOT: [&str; 4] = ["-chat", "non-reasoning", "no-think", "non-thinking"];

    let model = model.to_ascii_lowercase();
    if NOT.iter().any(|word| model.contains(word)) {
        return false;
    }

    let thinks = |part: &str| {
        let version = |(family, least): &(&str, f64)| {
            family_version(part, family).is_some_and(|version| version >= *least)
        };
        // `o1` and `o3-mini`, but not another word that begins with the same letter.
        let numbered = part.strip_prefix('o').is_some_and(|rest| {
            let number = rest.split('-').next().unwrap_or_default();
            number.len() == 1 && number.chars().all(|digit| digit.is_ascii_digit())
        });
        numbered || FAMILIES.iter().any(version) || NAMES.iter().any(|name| part.starts_with(name))
    };
    // Bedrock writes the vendor before a point: `us.anthropic.claude-opus-4-6-v1:0`.
    model.split(['/', ':', '@', ' ']).any(|part| {
        thinks(part)
            || part.rfind(".claude-").or(part.rfind(".deepseek")).is_some_and(|at| thinks(&part[at + 1..]))
    }) || WORDS.iter().any(|word| model.contains(word))
}

/// The version after a family's name: 5.1 of `gpt-5.1-mini`, and 4.6 of `claude-opus-4-6`. A longer number is a date or a
/// size.
pub(crate) fn family_version(model: &str, family: &str) -> Option<f64> {
    let mut numbers = model.strip_prefix(family)?.split(['-', '.', '@']);
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number < 100).map(f64::from);
    let whole = number(numbers.next()?)?;
    let rest = numbers.next().filter(|rest| rest.len() == 1).and_then(number).unwrap_or(0.0);
    Some(whole + rest / 10.0)
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
            "o3", "o4-mini", "openai/gpt-5-mini", "gpt-6.2", "gpt-5.1-codex", "deepseek-r1:8b",
            "deepseek-v3.2", "deepseek-reasoner", "gemini-2.5-pro", "gemini-3-flash-preview", "qwen3:30b",
            "qwen3.5-plus", "grok-4-fast", "glm-4.6", "claude-opus-4-6", "claude-sonnet-5",
            "claude-opus-5-5", "anthropic/claude-sonnet-4.6", "us.anthropic.claude-opus-4-6-v1:0",
            "claude-haiku-5@20261001", "x-thinking",
        ] {
            assert!(thinks(name), "{name}");
        }
        for name in [
            "gpt-4o",
            "gpt-4.1-mini",
            "o365-helper",
            "gpt-5-chat-latest",
            "claude-sonnet-4-5",
            "claude-opus-4-20250514",
            "claude-3-7-sonnet-latest",
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
            "qwen2.5:7b",
            "deepseek-chat",
            "gemini-2.0-flash",
            "llama-3.1-8b",
            "opus",
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
                ReplyRoom::Usual,
            )
        };
        assert_eq!(limit("gpt-4o", Some(500)), OutputLimit { most: 2000, least: 500 });
        assert_eq!(limit("gpt-4o", Some(10_000)), OutputLimit { most: 40_000, least: 10_000 });
        assert_eq!(limit("gpt-4o", None), OutputLimit { most: 16_384, least: 512 });
        assert_eq!(limit("o3", None), OutputLimit { most: 49_152, least: 4096 });
        assert_eq!(limit("o3", Some(500)), OutputLimit { most: 34_768, least: 4096 });
    }

    #[test]
    fn a_second_attempt_has_more_room() {
        let most = |model, expected, room| {
            let (card, stats) = (ModelCard::default(), ReplyLengthStats::default());
            OutputLimit::for_request(model, card, &expecting(expected), stats, room).most
        };
        assert_eq!(most("m", Some(500), ReplyRoom::More), 8192);
        assert_eq!(most("m", Some(500), ReplyRoom::Thinking), 40_960);
        assert_eq!(most("o3", Some(500), ReplyRoom::More), 40_960);
        assert_eq!(most("m", Some(5000), ReplyRoom::More), 40_000);
    }

    #[test]
    fn explicit_output_limit_holds_and_long_replies_raise_the_expectation() {
        let stats = |longest| ReplyLengthStats { replies: 3, longest };
        let limit = |card, longest| {
            let request = expecting(Some(500));
            OutputLimit::for_request("gpt-4o", card, &request, stats(longest), ReplyRoom::Usual)
        };
        let wanted = ModelCard { max_output_tokens: Some(300), ..ModelCard::default() };
        assert_eq!(limit(wanted, 0), OutputLimit::exactly(300));
        assert_eq!(limit(ModelCard::default(), 2000), OutputLimit { most: 4000, least: 3000 });
        assert_eq!(limit(ModelCard::default(), 90_000), OutputLimit::exactly(40_960));
        assert_eq!(limit(ModelCard::default(), 0).within(400), OutputLimit::exactly(400));
    }

    #[test]
    fn reply_length_stats_lower_and_raise_the_output_limit() {
        let most = |model, expected, longest| {
            let stats = ReplyLengthStats { replies: 16, longest };
            let (card, request) = (ModelCard::default(), expecting(expected));
            OutputLimit::for_request(model, card, &request, stats, ReplyRoom::Usual).most
        };
        assert_eq!(most("gpt-4o", Some(500), 100), 2000);
        assert_eq!(most("gpt-4o", Some(500), 300), 2000);
        assert_eq!(most("gpt-4o", Some(500), 2000), 4000);
        assert_eq!((most("o3", Some(500), 700), most("o3", Some(500), 2000)), (6096, 16_000));
        assert_eq!((most("gpt-4o", None, 100), most("gpt-4o", None, 900)), (2048, 7200));
    }

    #[test]
    fn request_and_output_limit_fit_into_the_context_window() {
        let card = |tokens| ModelCard { context_tokens: Some(tokens), ..ModelCard::default() };
        let request = expecting(Some(500));
        assert_eq!(reply_limit("m", card(400), &request), OutputLimit::exactly(500));
        let card = card(1000);
        let read = card.estimator.request(&request);
        assert_eq!(u64::from(reply_limit("m", card, &request).most) + read, 1000);
        assert_eq!(
            reply_limit("m", card, &ChatRequest { max_output_tokens: Some(7), ..request }),
            OutputLimit::exactly(7)
        );
    }
}
