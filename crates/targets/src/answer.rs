//! Answer of a target, with everything known about its production.

use std::path::PathBuf;
use std::time::Duration;

use assize_rubric::{Cost, Tokens, ToolCall};
use serde_json::Value;

/// An answer to judge. Unknown values are `None`, never made up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetAnswer {
    /// Text of the answer; empty if the target returned an empty answer.
    pub text: String,
    /// All output messages as an array, if the target returned them.
    pub messages: Option<Value>,
    /// Tokens spent, including failed attempts.
    pub tokens: Tokens,
    /// Cost of the answer, including failed attempts, as far as prices are known; `None` if no cost was
    /// reported.
    pub cost: Option<Cost>,
    /// Duration: as the target reports it, else the wall-clock time of the successful attempt.
    pub duration: Duration,
    /// Model that answered, as reported.
    pub model: Option<String>,
    /// Tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Changes in the working folder, as a unified diff.
    pub file_changes: Option<String>,
    /// Folder the target worked in, as long as it exists.
    pub workspace: Option<PathBuf>,
    /// True if a token limit cut off the text.
    pub cut_off: bool,
    /// Number of attempts, including the last one; 0 if the answer existed before or came from the cache.
    pub attempts: u32,
    /// Name of the target that gave the answer, if it is not the one that was asked.
    pub answered_by: Option<String>,
}

impl TargetAnswer {
    /// Creates an answer of which only the text is known.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
