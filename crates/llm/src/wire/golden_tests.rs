//! Shared parts of the golden tests of all formats: a request with everything in it, encoding and decoding.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::format::WireCodec;
use crate::error::AskError;
use crate::quirks::ServerQuirks;
use crate::reply::ChatReply;
use crate::request::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part};
use crate::transport::HttpAnswer;

/// The schema of [`full_request`] as it is sent.
pub(super) const SCHEMA: &str =
    r#"{"type":"object","properties":{"reason":{"type":"string"},"met":{"type":"boolean"}}}"#;

/// A request with every feature.
pub(super) fn full_request(model: &str) -> ChatRequest {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    ChatRequest {
        model: model.into(),
        schema: Some(JsonSchemaFormat { name: "judgement".into(), schema: schema.into(), strict: true }),
        temperature: Some(0.0),
        seed: Some(7),
        max_output_tokens: Some(500),
        logprobs: Some(5),
        ..ChatRequest::new(vec![ChatMessage::system("Be fair."), ChatMessage::user("\"Hi\"\n")])
    }
}

/// [`full_request`] in a conversation of several turns.
pub(super) fn full_conversation(model: &str) -> ChatRequest {
    let request = full_request(model);
    let more = [ChatMessage::assistant("Yes?"), ChatMessage::user("So?")];
    let messages: Vec<ChatMessage> = request.messages.iter().cloned().chain(more).collect();
    ChatRequest { messages: messages.into(), ..request }
}

/// A question about a picture.
pub(super) fn pictured() -> ChatMessage {
    ChatMessage {
        role: MessageRole::User,
        content: [
            Part::Text("What?".into()),
            Part::Image { media_type: "image/png".into(), data: "aGk=".into() },
        ]
        .into(),
    }
}

/// The body that is sent.
pub(super) fn encoded(wire: &dyn WireCodec, request: &ChatRequest, quirks: ServerQuirks) -> String {
    String::from_utf8(wire.encode(request, quirks).unwrap().body).unwrap()
}

/// An answer without headers.
pub(super) fn answer(status: u16, body: &str) -> HttpAnswer {
    HttpAnswer { status, headers: HeaderMap::new(), body: body.as_bytes().to_vec() }
}

/// An answer with one header.
pub(super) fn named(header: &'static str, value: &'static str, answer: HttpAnswer) -> HttpAnswer {
    let mut headers = answer.headers;
    headers.insert(HeaderName::from_static(header), HeaderValue::from_static(value));
    HttpAnswer { headers, ..answer }
}

/// Reply in an answer, with the answer's text, as a client returns it.
pub(super) fn read(wire: &dyn WireCodec, answer: HttpAnswer) -> Result<ChatReply, AskError> {
    let reply = wire.decode(&answer)?;
    Ok(ChatReply { raw: answer.into_text(), ..reply })
}

/// Reply in a body with a good status.
pub(super) fn decoded(wire: &dyn WireCodec, body: &str) -> Result<ChatReply, AskError> {
    read(wire, answer(200, body))
}
