//! Gemini models on Google Cloud: the same format as the Gemini API, with an access token instead of a key.
//! Project and location are part of the address.

use super::format::{HttpCall, KeyHeader, WireCodec};
use super::gemini::GeminiGenerate;
use crate::error::AskError;
use crate::quirks::ServerQuirks;
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::transport::HttpAnswer;

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct VertexGemini;

impl WireCodec for VertexGemini {
    fn name(&self) -> &'static str {
        "vertex"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        GeminiGenerate.encode(request, quirks)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        GeminiGenerate.decode(answer)
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        GeminiGenerate.learn(request, answer, quirks)
    }
}
