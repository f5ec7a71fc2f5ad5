//! Messages of a conversation and tool calls, as shared by eval files, targets, graders, models and logs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

crate::named_enum! {
    /// Speaker of a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    pub enum MessageRole {
        /// Standing instructions.
        System = "system",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a tool call. Hosted servers accept it only as the answer to a call they made themselves.
        Tool = "tool",
    }
}

/// One message of an eval file.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseMessage {
    /// Role of the author.
    pub role: MessageRole,
    /// Content, in order.
    pub blocks: Vec<MessageBlock>,
    /// Tool calls made with the message, as written; empty for most messages.
    pub tool_calls: Vec<Value>,
    /// Name of the speaker or tool, if given.
    pub name: Option<String>,
    /// Other data recorded with the message, as written: `tool_call_id`, times, usage.
    pub data: Map<String, Value>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageBlock {
    /// Text.
    Text(String),
    /// An object instead of text, kept as it is and shown as JSON.
    Json(Value),
    /// A text file.
    File {
        /// Path as written.
        written: String,
        /// Resolved path.
        path: PathBuf,
        /// Text of the file, with single newlines as line ends.
        text: Arc<str>,
    },
    /// An image file: png, jpg, jpeg, gif, webp, svg or bmp.
    Image {
        /// Path as written.
        written: String,
        /// Resolved path.
        path: PathBuf,
        /// Media type, such as `image/png`.
        media_type: &'static str,
    },
}

impl CaseMessage {
    /// Creates a message with a single text.
    pub fn text(role: MessageRole, text: impl Into<String>) -> Self {
        Self {
            role,
            blocks: vec![MessageBlock::Text(text.into())],
            tool_calls: Vec::new(),
            name: None,
            data: Map::new(),
        }
    }

    /// Returns the text of the message: blocks in order, one newline between them, objects as JSON, files by
    /// their content, images by their name.
    pub fn to_text(&self) -> String {
        let parts: Vec<String> = self
            .blocks
            .iter()
            .map(|block| match block {
                MessageBlock::Text(text) => text.clone(),
                MessageBlock::Json(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
                MessageBlock::File { text, .. } => text.to_string(),
                MessageBlock::Image { written, .. } => format!("[image: {written}]"),
            })
            .collect();
        parts.join("\n")
    }

    /// Returns the message as programs and prompts see it: `role`, `content` and, if there are any,
    /// `tool_calls`. Content written as an object stays an object; all other content becomes text.
    pub fn to_json(&self) -> Value {
        let content = match self.blocks.as_slice() {
            [MessageBlock::Json(value)] => value.clone(),
            _ => Value::String(self.to_text()),
        };
        let mut value = json!({ "role": self.role.name(), "content": content });

        if !self.tool_calls.is_empty() {
            value["tool_calls"] = Value::Array(self.tool_calls.clone());
        }

        value
    }
}

/// One call of a tool by a target.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Name of the tool, as used by the target.
    pub name: String,
    /// Input of the call; null if unknown.
    pub input: Value,
    /// Output of the call, if known.
    pub output: Option<Value>,
    /// Duration of the call, if known.
    pub duration: Option<Duration>,
    /// True if the call failed; `None` if unknown.
    pub failed: Option<bool>,
}
