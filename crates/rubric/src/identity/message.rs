//! Identities of messages and tool calls.

use super::{Identify, IdentityWriter};
use crate::{CaseMessage, MessageBlock, MessageRole, ToolCall};

impl Identify for MessageRole {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self.name());
    }
}

impl Identify for CaseMessage {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { role, blocks, tool_calls, name, data } = self;
        identity.field(role);
        identity.field(blocks);
        identity.field(tool_calls);
        identity.field(name);

        identity.field(data);
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
                identity.field(written);
                identity.field(path);
                identity.field(text);
            }
            Self::Image { written, path, media_type } => {
                identity.text("image");
                identity.field(written);
                identity.field(path);
                identity.field(media_type);
            }
        }
    }
}

impl Identify for ToolCall {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { name, input, output, duration, failed } = self;
        identity.field(name);
        identity.field(input);
        identity.field(output);
        identity.field(duration);

        identity.field(failed);
    }
}
