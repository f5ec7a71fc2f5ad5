//! Identities of messages and tool calls.

use crate::{
    CaseMessage, MessageBlock, MessageRole, ToolCall, identify_enum, identify_named, identify_struct,
};

identify_struct!(CaseMessage { role, blocks, tool_calls, name, data });

// An image is identified by its path, not by the content of the file.
identify_enum!(MessageBlock {
    Text(text) = "text", Json(value) = "json", File { written, path, text } = "file",
    Image { written, path, media_type } = "image",
});

identify_struct!(ToolCall { name, input, output, duration, failed });
identify_named!(MessageRole);
