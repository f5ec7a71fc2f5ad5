//! Provider-neutral reply of a model.

use std::time::Duration;

use assize_rubric::Usd;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::FailedAttempt;
use crate::token_counts::TokenCounts;

/// One answer of a model. A value only means that the server answered in its own format: check `finish` and `refusal`
/// before using `text`.
///
/// Its JSON is the form that a cache stores. It omits `cut_at`, because a reply that was cut off is not stored, and
/// `raw`, which a cache stores separately, because it would grow by half inside other JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The visible text; empty if the model wrote nothing. Hidden reasoning is not part of it.
    pub text: String,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// The output limit that cut the reply off, in tokens, if it was not the caller's own. The model may have
    /// had more to say.
    #[serde(skip)]
    pub cut_at: Option<u32>,
    /// The model's own words if it declined to answer.
    pub refusal: Option<String>,
    /// Tokens of this answer.
    pub usage: TokenCounts,
    /// What the answer cost, as a gateway states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_cost: Option<Usd>,
    /// The model that answered, as the server reports it; often a dated version of the requested one.
    pub model: Option<String>,
    /// The server's name for this exchange, for support requests.
    pub request_id: Option<String>,
    /// The body as received, with known secrets replaced. Bytes that are not UTF-8 become U+FFFD.
    #[serde(default, skip_serializing)]
    pub raw: String,
    /// True if it came from a batch, which has other prices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batched: bool,
    /// Time from sending the successful request to having read its whole body.
    pub latency: Duration,
    /// Requests sent for this answer, including the successful one.
    pub attempts: u32,
    /// The requests that came before the successful one, oldest first.
    pub failed: Vec<FailedAttempt>,
}

impl ChatReply {
    /// A reply to the first attempt, with no other data.
    pub fn new(text: impl Into<String>, finish: FinishReason) -> Self {
        Self {
            text: text.into(),
            finish,
            cut_at: None,
            refusal: None,
            usage: TokenCounts::default(),
            stated_cost: None,
            model: None,
            request_id: None,
            raw: String::new(),
            batched: false,
            latency: Duration::ZERO,
            attempts: 1,
            failed: Vec::new(),
        }
    }

    /// Why the reply is not a complete answer; `None` if the model finished its text. A refusal comes before all other
    /// defects, because its text explains most.
    pub fn defect(&self) -> Option<ReplyDefect<'_>> {
        if let Some(words) = self.refusal.as_deref().map(str::trim).filter(|words| !words.is_empty()) {
            return Some(ReplyDefect::Refusal(words));
        }

        match &self.finish {
            FinishReason::ContentFilter => Some(ReplyDefect::Withheld),
            FinishReason::Length => Some(ReplyDefect::CutOff),
            FinishReason::Other(word) if self.finish.is_broken_off() => Some(ReplyDefect::BrokenOff(word)),
            _ if self.text.trim().is_empty() => Some(ReplyDefect::Empty),
            _ => None,
        }
    }

    /// Tokens of this answer and of every failed attempt that reported some.
    pub fn total_usage(&self) -> TokenCounts {
        self.failed.iter().fold(self.usage, |sum, attempt| sum + attempt.usage)
    }
}

/// Why a reply is not a complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyDefect<'a> {
    /// The model declined to answer, in these words.
    Refusal(&'a str),
    /// The server withheld some or all of the text.
    Withheld,
    /// The text ran into the token limit. It may look complete without being so.
    CutOff,
    /// The server broke the reply off, with this finish reason.
    BrokenOff(&'a str),
    /// There is no text.
    Empty,
}

/// Why a model stopped writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It ran into the token limit; the text is cut off.
    Length,
    /// The server withheld some or all of the text.
    ContentFilter,
    /// It wants to call a tool.
    ToolCall,
    /// Any other reason, in the server's words; `unknown` if the server gave none.
    Other(String),
}

impl FinishReason {
    /// Reads the word in an answer, if there is one.
    pub(crate) fn from_json(word: Option<&Value>) -> Self {
        Self::from_word(word.and_then(Value::as_str).unwrap_or("unknown"))
    }

    /// Reads a word of any format. Servers often use words of another format, or their own, for a reply that was cut off
    /// or withheld.
    pub(crate) fn from_word(word: &str) -> Self {
        const STOPPED: [&str; 5] = ["stop", "eos", "eos_token", "end_turn", "stop_sequence"];

        const CALLED: [&str; 3] = ["tool_calls", "function_call", "tool_use"];

        const HELD_BACK: [&str; 12] = [
            "filter", "content_policy", "safety", "moderat", "guardrail", "prohibited", "blocked",
            "blocklist", "sensitive", "recitation", "toxic", "refus",
        ];

        const CUT_OFF: [&str; 6] =
            ["length", "max_token", "max_output", "token_limit", "context_window", "truncat"];

        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        let has_one_of = |parts: &[&str]| parts.iter().any(|part| plain.contains(part));
        if STOPPED.contains(&&*plain) {
            Self::Stop
        } else if CALLED.contains(&&*plain) {
            Self::ToolCall
        } else if has_one_of(&HELD_BACK) || matches!(&*plain, "language" | "spii" | "model_armor") {
            Self::ContentFilter
        } else if has_one_of(&CUT_OFF) {
            Self::Length
        } else {
            Self::Other(word.to_owned())
        }
    }

    /// OpenAI's word for it, or else the server's own; `None` if the server gave none.
    pub fn openai_word(&self) -> Option<&str> {
        match self {
            Self::Stop => Some("stop"),
            Self::Length => Some("length"),
            Self::ContentFilter => Some("content_filter"),
            Self::ToolCall => Some("tool_calls"),
            Self::Other(word) => Some(word.as_str()).filter(|word| *word != "unknown"),
        }
    }

    /// Whether the reply was broken off, judged by the server's own word. The text so far may look complete
    /// without being so.
    pub fn is_broken_off(&self) -> bool {
        const PARTS: [&str; 17] = [
            "error", "abort", "cancel", "timeout", "timed_out", "incomplete", "overload", "fail",
            "insufficient", "in_progress", "queued", "pause", "interrupt", "malformed", "limit", "tool_call",
            "missing_thought",
        ];

        let Self::Other(word) = self else { return *self == Self::Length };
        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        plain == "other" || PARTS.iter().any(|part| plain.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_servers_are_understood() {
        for (word, finish) in [
            ("LENGTH", FinishReason::Length),
            ("max_output_tokens", FinishReason::Length),
            ("MAX-TOKENS", FinishReason::Length),
            ("model_context_window_exceeded", FinishReason::Length),
            ("repetition_truncation", FinishReason::Length),
            ("content-filter", FinishReason::ContentFilter),
            ("ERROR_TOXIC", FinishReason::ContentFilter),
            ("IMAGE_PROHIBITED_CONTENT", FinishReason::ContentFilter),
            ("guardrail_intervened", FinishReason::ContentFilter),
            ("odd", FinishReason::Other("odd".into())),
            ("unknown", FinishReason::Other("unknown".into())),
        ] {
            assert_eq!(FinishReason::from_word(word), finish, "{word}");
        }
        for word in [
            "network_error", "Aborted", "in_progress", "pause_turn", "ERROR_LIMIT", "time-out: timed out",
            "OTHER", "too_many_tool_calls",
        ] {
            assert!(FinishReason::from_word(word).is_broken_off(), "{word}");
        }
        for word in ["unknown", "odd", "done", "eos_token_id", "complete"] {
            assert!(!FinishReason::from_word(word).is_broken_off(), "{word}");
        }
    }
}
