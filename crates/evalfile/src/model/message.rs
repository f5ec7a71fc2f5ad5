//! Conversations: what a target is given, and what it may be expected to answer.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The person asking.
    User,
    /// The model answering.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl Role {
    /// All roles, in the order they are listed in messages.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The word used in eval files.
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
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
    /// Tool calls made with the message, as written; empty for most messages.
    pub tool_calls: Vec<Value>,
    /// Name of the speaker or tool, if given.
    pub name: Option<String>,
    /// What else was recorded with the message, as written: `tool_call_id`, times, usage.
    pub data: serde_json::Map<String, Value>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An object in the place of text, kept as it is and shown as JSON.
    Json(Value),
    /// A text file.
    File {
        /// The path as written.
        written: String,
        /// Where the file is.
        path: PathBuf,
        /// Its text, with line ends as a single newline.
        text: Arc<str>,
    },
    /// An image file: png, jpg, jpeg, gif, webp, svg or bmp.
    Image {
        /// The path as written.
        written: String,
        /// Where the file is.
        path: PathBuf,
        /// Its media type, such as `image/png`.
        media_type: &'static str,
    },
}

impl Message {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            blocks: vec![Block::Text(text.into())],
            tool_calls: Vec::new(),
            name: None,
            data: serde_json::Map::new(),
        }
    }

    /// The text of the message: blocks in order, one newline between them, objects as JSON, files by
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
