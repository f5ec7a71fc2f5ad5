//! What a target answered, with everything it told about the way there.

use std::path::PathBuf;
use std::time::Duration;

use assize_rubric::{Cost, Tokens, ToolCall};
use serde_json::Value;

/// An answer to judge. Absent knowledge is `None`, never a made-up value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The answer itself; may be empty, when the target said nothing.
    pub text: String,
    /// All output messages, as an array, when the target gave them.
    pub messages: Option<Value>,
    /// Tokens spent, failed attempts included.
    pub tokens: Tokens,
    /// What the answer cost, failed attempts included, as far as the prices are known; `None` when nobody said
    /// anything about it.
    pub cost: Option<Cost>,
    /// Time the answer took: as the target reports it, else wall-clock time of the successful attempt.
    pub duration: Duration,
    /// The model that answered, as reported.
    pub model: Option<String>,
    /// Calls of tools, in order.
    pub tool_calls: Vec<ToolCall>,
    /// What changed in the working folder, as a unified diff.
    pub file_changes: Option<String>,
    /// The folder the target worked in, while it is there to be looked at.
    pub workspace: Option<PathBuf>,
    /// The text ends where a token limit cut it off.
    pub cut_off: bool,
    /// How often the target was asked, the last time included; 0 when the answer was there before or remembered.
    pub attempts: u32,
    /// The target that gave the answer when it is another than the one that was asked.
    pub answered_by: Option<String>,
}

impl Answer {
    /// An answer of which nothing is known but its text.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
