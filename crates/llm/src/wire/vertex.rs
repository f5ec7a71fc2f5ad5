//! Gemini models on Google Cloud: the same format as the Gemini API, with an access token in place of a key. Project and
//! location stand in the address.

use super::format::{HttpCall, KeyHeader, WireCodec};
use super::gemini::Gemini;
use crate::error::AskError;
use crate::quirks::ServerQuirks;
use crate::reply::ChatReply;
use crate::request::ChatRequest;
use crate::transport::HttpAnswer;

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vertex;

impl WireCodec for Vertex {
    fn name(&self) -> &'static str {
        "vertex"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        Gemini.encode(request, quirks)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        Gemini.decode(answer)
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        Gemini.learn(request, answer, quirks)
    }
}
