//! Wire formats, one file each: pure functions between this crate's types and the bytes a server speaks.

mod answer;
mod anthropic;
mod bedrock;
mod ceiling;
mod dialect;
mod embeddings;
mod format;
mod gemini;
#[cfg(test)]
mod golden_tests;
mod json;
mod labels;
mod ollama;
mod openai_chat;
mod openai_responses;
mod outgoing;
mod prelude;
mod refusal;

pub(crate) use anthropic::VERSION as ANTHROPIC_VERSION;
pub(crate) use outgoing::segment as path_segment;
pub(crate) use refusal::refusal_in;

pub use anthropic::AnthropicMessages;
pub use bedrock::BedrockConverse;
pub use dialect::{ChatDialect, LogprobsField};
pub use embeddings::EmbeddingFormat;
pub use format::{KeyHeader, WireCodec};
pub use outgoing::HttpCall;

pub use crate::quirks::FormatFeatures;
pub use gemini::GeminiGenerate;
pub use json::{error_words, named_error};
pub use labels::{LabelFormat, LabelReply, LabelScore};
pub use ollama::OllamaChat;
pub use openai_chat::OpenAiChat;
pub use openai_responses::OpenAiResponses;
