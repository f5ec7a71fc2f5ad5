//! Identities of messages and tool calls.

use super::{Identify, IdentityWriter};
use crate::{CaseMessage, MessageBlock, ToolCall};

impl Identify for CaseMessage {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { role, blocks, tool_calls, name, data } = self;
        identity.fields(&[role, blocks, tool_calls, name, data]);
    }
}

impl Identify for MessageBlock {
    /// An image is identified by its path, not by the content of the file.
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Text(text) => {
                identity.text("text");
                identity.field(text);
            }
            Self::Json(value) => {
                identity.text("json");
                identity.field(value);
            }
            Self::File { written, path, text } => {
                identity.text("file");
                identity.fields(&[written, path, text]);
            }
            Self::Image { written, path, media_type } => {
                identity.text("image");
                identity.fields(&[written, path, media_type]);
            }
        }
    }
}

impl Identify for ToolCall {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, input, output, duration, failed } = self;
        identity.fields(&[name, input, output, duration, failed]);
    }
}
