//! The wire formats the mock speaks, one file each, chosen by the path of the request.

mod format;
mod openai_chat;

pub(super) use format::{Said, WireFormat};

/// All formats. A request goes to the first that claims its path.
static FORMATS: &[&dyn WireFormat] = &[&openai_chat::OpenAiChat];

/// The format spoken at this path.
pub(super) fn for_path(path: &str) -> Option<&'static dyn WireFormat> {
    FORMATS.iter().copied().find(|format| format.claims(path))
}
