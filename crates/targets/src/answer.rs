//! The answer of a target, with the data about how it was produced.

use std::path::PathBuf;
use std::time::Duration;

use assize_rubric::{Cost, Tokens, ToolCall};
use serde_json::Value;

/// An answer to judge. Unknown values are `None`, never made up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetAnswer {
    /// Text of the answer; empty if a target called tools or changed files and said nothing.
    pub text: String,
    /// True if the target returned a value other than text. `text` is that value as JSON.
    pub is_json: bool,
    /// All output messages as an array, if the target returned them.
    pub messages: Option<Value>,
    /// Tokens spent, including failed attempts.
    pub tokens: Tokens,
    /// Known cost of the answer, including failed attempts; `None` if no cost was reported.
    pub cost: Option<Cost>,
    /// Duration as the target reports it, or else the wall-clock time of the successful attempt. For an answer
    /// from the reply cache it is the latency of the original call, or 0 if that was not measured.
    pub duration: Duration,
    /// Model that answered, as reported.
    pub model: Option<String>,
    /// Why the model stopped, in OpenAI's words (`stop`, `length`, `tool_calls`, `content_filter`) or the
    /// server's own; `None` if unknown.
    pub finish_reason: Option<String>,
    /// Report of a guardrail of the target: a map with `flagged`, and perhaps `flaggedInput`, `flaggedOutput` and `reason`.
    pub guardrails: Option<Value>,
    /// OpenTelemetry spans recorded during the answer, as [`span_list`](assize_trace::span_list) returns them.
    pub spans: Option<Value>,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Changes in the working folder, as a unified diff.
    pub file_changes: Option<String>,
    /// Folder in which the target worked, while it exists.
    pub workspace: Option<PathBuf>,
    /// Number of attempts, including the last one; 0 if the answer was given or came from the cache.
    pub attempts: u32,
    /// True if the answer came from the reply cache.
    pub recalled: bool,
    /// Name of the target that gave the answer, if it is a fallback.
    pub answered_by: Option<String>,
}

impl TargetAnswer {
    /// Creates an answer with only a text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The duration, or `None` if it was not measured, as for most given answers.
    pub fn measured_duration(&self) -> Option<Duration> {
        (self.attempts > 0 || !self.duration.is_zero()).then_some(self.duration)
    }

    /// Whether there is nothing to grade: no text, no tool call, no changed file.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
            && self.tool_calls.is_empty()
            && self.file_changes.as_deref().is_none_or(|changes| changes.trim().is_empty())
    }
}
