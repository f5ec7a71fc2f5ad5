//! Messages: the input of a target, and expected or given answers.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

/// Role of the author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// All roles, in the order they are listed in diagnostics.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// Returns the role's name in eval files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Role of the author.
    pub role: Role,
    /// Content, in order.
    pub blocks: Vec<Block>,
    /// Tool calls made with the message, as written; empty for most messages.
    pub tool_calls: Vec<Value>,
    /// Name of the speaker or tool, if given.
    pub name: Option<String>,
    /// Other recorded data of the message, as written: `tool_call_id`, times, usage.
    pub data: serde_json::Map<String, Value>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
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

impl Message {
    /// Creates a message with a single text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            blocks: vec![Block::Text(text.into())],
            tool_calls: Vec::new(),
            name: None,
            data: serde_json::Map::new(),
        }
    }

    /// Returns the text of the message: blocks in order, one newline between them, objects as JSON, files by
    /// their content, images by their name.
    pub fn to_text(&self) -> String {
        let parts: Vec<String> = self
            .blocks
            .iter()
            .map(|block| match block {
                Block::Text(text) => text.clone(),
                Block::Json(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
                Block::File { text, .. } => text.to_string(),
                Block::Image { written, .. } => format!("[image: {written}]"),
            })
            .collect();
        parts.join("\n")
    }
}
