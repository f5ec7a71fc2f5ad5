//! OpenAI's embeddings format: a text in, its vector out. The reply is the vector as a JSON list of numbers.

use serde::Serialize;
use serde_json::Value;

use super::answer;
use super::format::{HttpCall, KeyHeader, WireCodec};
use super::json;
use super::outgoing;
use crate::error::AskError;
use crate::quirks::ServerQuirks;
use crate::reply::{ChatReply, FinishReason};
use crate::request::ChatRequest;
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiEmbeddings;

impl WireCodec for OpenAiEmbeddings {
    fn name(&self) -> &'static str {
        "openai-embeddings"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, _: ServerQuirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
        let text = match &*request.messages {
            [only] => outgoing::text_only(&only.content),
            _ => None,
        };
        let text = text.ok_or_else(|| {
            outgoing::bad("a model for embeddings turns one text into numbers: it can't answer or judge")
        })?;

        let body = EmbeddingsBody { model: &request.model, input: &text, encoding_format: "float" };
        outgoing::post("/embeddings", &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = TokenCounts {
            input: json::count(&body, "/usage/prompt_tokens")
                .or_else(|| json::count(&body, "/usage/total_tokens")),
            cached: None,
            output: Some(0),
        };
        answer::refuse_named_error(answer, &body, usage)?;

        let vector = body.pointer("/data/0/embedding").and_then(Value::as_array);
        let vector = vector.filter(|numbers| !numbers.is_empty() && numbers.iter().all(Value::is_number));
        let Some(vector) = vector else {
            return Err(answer::malformed(
                answer,
                "the answer has no embedding of numbers".to_owned(),
                usage,
            ));
        };

        let text = Value::Array(vector.clone()).to_string();
        let reply = ChatReply {
            usage,
            model: json::text(&body, "/model"),
            ..ChatReply::new(text, FinishReason::Stop)
        };
        Ok(answer::complete(answer, reply))
    }

    fn limits_output(&self, _: ServerQuirks) -> bool {
        false
    }

    fn learn(&self, _: &ChatRequest, _: &HttpAnswer, _: ServerQuirks) -> Option<ServerQuirks> {
        None
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct EmbeddingsBody<'a> {
    model: &'a str,
    input: &'a str,
    encoding_format: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::request::ChatMessage;

    fn answer(body: &str) -> HttpAnswer {
        HttpAnswer { status: 200, headers: crate::HeaderMap::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_text_is_sent_and_its_vector_is_the_reply() {
        let request = ChatRequest { model: "e".into(), ..ChatRequest::new([ChatMessage::user("tea")]) };
        let call = OpenAiEmbeddings.encode(&request, ServerQuirks::default()).unwrap();
        assert_eq!(call.path, "/embeddings");
        assert_eq!(
            String::from_utf8(call.body).unwrap(),
            r#"{"model":"e","input":"tea","encoding_format":"float"}"#
        );

        let reply = OpenAiEmbeddings
            .decode(&answer(
                r#"{"model": "e-1", "data": [{"embedding": [0.5, -1]}], "usage": {"prompt_tokens": 3}}"#,
            ))
            .unwrap();
        assert_eq!((reply.text.as_str(), reply.model.as_deref()), ("[0.5,-1]", Some("e-1")));
        assert_eq!((reply.usage.input, reply.usage.output), (Some(3), Some(0)));
    }

    #[test]
    fn conversations_and_answers_without_numbers_are_refused() {
        let request = ChatRequest::new([ChatMessage::system("judge"), ChatMessage::user("tea")]);
        let error = OpenAiEmbeddings.encode(&request, ServerQuirks::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadRequest);

        for body in [
            r#"{"data": []}"#, r#"{"data": [{"embedding": []}]}"#, r#"{"data": [{"embedding": ["a"]}]}"#,
            r#"{"data": [{"embedding": "AAAA"}]}"#,
        ] {
            assert_eq!(OpenAiEmbeddings.decode(&answer(body)).unwrap_err().kind, ErrorKind::MalformedReply);
        }
    }
}
