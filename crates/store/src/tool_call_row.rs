//! Tool calls of a target, as a result row keeps them.

use assize_rubric::ToolCall;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of calls that are kept for a case. Others are only counted.
const MAX_CALLS: usize = 200;
/// Maximum length of a kept input or output, in characters.
const MAX_TEXT: usize = 2_000;

/// A tool call of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallRow {
    /// Name of the tool.
    pub tool: String,
    /// Input: text or JSON; null if unknown.
    pub input: Option<String>,
    /// Output: text or JSON; null if unknown.
    pub output: Option<String>,
    /// True if the call failed; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// Duration in milliseconds; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Number of characters cut from the ends of input and output.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it asks about by reference")]
pub(crate) const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl From<&ToolCall> for ToolCallRow {
    /// Copies the whole call; [`shorten_tool_calls`] cuts it to the stored length.
    fn from(call: &ToolCall) -> Self {
        Self {
            tool: call.name.clone(),
            input: text_of(&call.input),
            output: call.output.as_ref().and_then(text_of),
            failed: call.failed,
            duration_ms: call.duration.map(|duration| duration.as_millis() as u64),
            cut: 0,
        }
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Cuts calls to the limits of a row. Returns the number of dropped calls.
pub fn shorten_tool_calls(calls: &mut Vec<ToolCallRow>) -> usize {
    let dropped = calls.len().saturating_sub(MAX_CALLS);
    calls.truncate(MAX_CALLS);
    for call in calls {
        for text in [&mut call.input, &mut call.output].into_iter().flatten() {
            if let Some((end, _)) = text.char_indices().nth(MAX_TEXT) {
                call.cut += text[end..].chars().count();
                text.truncate(end);
            }
        }
    }

    dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_very_many_calls_are_cut_and_counted() {
        let call = ToolCall {
            name: "Bash".to_owned(),
            input: serde_json::json!({ "command": "ls" }),
            output: Some("é".repeat(MAX_TEXT + 3).into()),
            duration: None,
            failed: Some(true),
        };
        let mut rows = vec![ToolCallRow::from(&call); MAX_CALLS + 2];
        assert_eq!(shorten_tool_calls(&mut rows), 2);
        assert_eq!(rows.len(), MAX_CALLS);
        assert_eq!(rows[0].input.as_deref(), Some(r#"{"command":"ls"}"#));
        assert_eq!(rows[0].output.as_ref().map(|text| text.chars().count()), Some(MAX_TEXT));
        assert_eq!((rows[0].cut, rows[0].failed), (3, Some(true)));
    }
}
