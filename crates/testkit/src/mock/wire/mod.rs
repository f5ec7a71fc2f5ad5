//! Wire formats of the mock, one file each, selected by the path of the request.

mod anthropic;
mod bedrock;
mod format;
mod gemini;
mod labels;
mod models;
mod ollama;
mod openai_chat;
mod openai_embeddings;
mod openai_responses;
mod other_embeddings;

pub(super) use format::{MockModelOutput, MockWireFormat, count_tokens};

/// All formats. A request goes to the first that claims its path.
static FORMATS: &[&dyn MockWireFormat] = &[
    &openai_chat::MockOpenAiChat,
    &labels::MockLabels,
    &other_embeddings::MockOtherEmbeddings,
    &openai_embeddings::MockOpenAiEmbeddings,
    &openai_responses::MockOpenAiResponses,
    &anthropic::MockAnthropic,
    &bedrock::MockBedrock,
    &gemini::MockGemini,
    &ollama::MockOllama,
    &models::MockModelList,
];

/// Returns the format of this path. A path below `/plain/` simulates a server that is not a model's and uses `Raw` and
/// `Status` replies, so any format will do.
pub(super) fn format_for_path(path: &str) -> Option<&'static dyn MockWireFormat> {
    let any = || FORMATS.first().copied().filter(|_| path.starts_with("/plain/"));
    FORMATS.iter().copied().find(|format| format.claims(path)).or_else(any)
}
