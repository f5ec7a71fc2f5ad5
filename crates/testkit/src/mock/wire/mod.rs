//! Wire formats of the mock, one file each, selected by the path of the request.

mod anthropic;
mod bedrock;
mod format;
mod gemini;
mod models;
mod ollama;
mod openai_chat;
mod openai_responses;

pub(super) use format::{Said, WireFormat, spent};

/// All formats. A request goes to the first that claims its path.
static FORMATS: &[&dyn WireFormat] = &[
    &openai_chat::OpenAiChat,
    &openai_responses::OpenAiResponses,
    &anthropic::Anthropic,
    &bedrock::Bedrock,
    &gemini::Gemini,
    &ollama::Ollama,
    &models::Models,
];

/// Returns the format of this path.
pub(super) fn for_path(path: &str) -> Option<&'static dyn WireFormat> {
    FORMATS.iter().copied().find(|format| format.claims(path))
}
