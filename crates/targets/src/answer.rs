//! Answer of a target, with everything known about its production.

use std::path::PathBuf;
use std::time::Duration;

use assize_rubric::{Cost, Tokens, ToolCall};
use serde_json::Value;

/// An answer to judge. Unknown values are `None`, never made up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetAnswer {
    /// Text of the answer; empty if a target called tools or changed files and said nothing.
    pub text: String,
    /// True if the target returned a value that is no text: `text` is that value as JSON.
    pub is_json: bool,
    /// All output messages as an array, if the target returned them.
    pub messages: Option<Value>,
    /// Tokens spent, including failed attempts.
    pub tokens: Tokens,
    /// Cost of the answer, including failed attempts, as far as prices are known; `None` if no cost was
    /// reported.
    pub cost: Option<Cost>,
    /// Duration: as the target reports it, else the wall-clock time of the successful attempt. That of an answer from the
    /// reply cache was measured when the model was asked; 0 if it was not.
    pub duration: Duration,
    /// Model that answered, as reported.
    pub model: Option<String>,
    /// Reason why the model stopped, in OpenAI's words (`stop`, `length`, `tool_calls`, `content_filter`) or the server's own;
    /// `None` if it is not known.
    pub finish_reason: Option<String>,
    /// Report of a guardrail of the target: a map with `flagged`, and perhaps `flaggedInput`, `flaggedOutput` and `reason`.
    pub guardrails: Option<Value>,
    /// OpenTelemetry spans of the work on the answer, as [`span_list`](assize_trace::span_list) returns them.
    pub spans: Option<Value>,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Changes in the working folder, as a unified diff.
    pub file_changes: Option<String>,
    /// Folder the target worked in, as long as it exists.
    pub workspace: Option<PathBuf>,
    /// Number of attempts, including the last one; 0 if the answer existed before or came from the cache.
    pub attempts: u32,
    /// True if the answer came from the reply cache.
    pub recalled: bool,
    /// Name of the target that gave the answer, if it is not the one that was asked.
    pub answered_by: Option<String>,
}

impl TargetAnswer {
    /// Creates an answer of which only the text is known.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns true if there is nothing to grade: no text, no call of a tool, no changed file.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
            && self.tool_calls.is_empty()
            && self.file_changes.as_deref().is_none_or(|changes| changes.trim().is_empty())
    }
}
