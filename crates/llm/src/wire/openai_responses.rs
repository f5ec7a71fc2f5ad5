//! OpenAI's Responses format. It has no seed.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::answer;
use super::format::{HttpCall, KeyHeader, WireCodec};
use super::json::{self, ServerError};
use super::openai_chat::{CacheBreakpoint, refuses_mark};
use super::{outgoing, refusal};
use crate::error::AskError;
use crate::prompt_cache::marks_first_part;
use crate::quirks::{LimitField, SchemaSupport, SentFeatures, ServerQuirks};
use crate::reply::{ChatReply, FinishReason};
use crate::request::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part};
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;

const LIMIT: &str = "max_output_tokens";

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

impl WireCodec for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
        let logprobs = quirks.alternatives(request.logprobs);
        let format =
            request.schema.as_ref().and_then(|schema| ResponsesFormat::from_format(schema, quirks.schema));
        let body = ResponsesBody {
            model: &request.model,
            input: items(request, !quirks.no_cache_mark)?,
            text: format.map(|format| ResponsesText { format }),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            max_output_tokens: request.output_limit().filter(|_| quirks.limit == LimitField::Usual),
            include: logprobs.map(|_| ["message.output_text.logprobs"]),
            top_logprobs: logprobs,
            // Replies are stored here, not at the provider.
            store: false,
        };

        outgoing::post("/responses".to_owned(), &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = TokenCounts {
            input: json::count(&body, "/usage/input_tokens"),
            cached: json::count(&body, "/usage/input_tokens_details/cached_tokens"),
            output: json::count(&body, "/usage/output_tokens"),
        };
        if let Some(error) = body.as_object().and_then(json::named_error) {
            return Err(failure(answer, json::error_value(error), usage));
        }

        let Some(output) = body.get("output").and_then(Value::as_array) else {
            return Err(answer::without_reply(answer, &body, "output", usage));
        };
        let messages = output.iter().filter(|item| item["type"] == "message");
        let parts = messages.filter_map(|item| item["content"].as_array()).flatten();
        let (mut text, mut refusal) = (String::new(), None);
        for part in parts {
            match part["type"].as_str() {
                Some("output_text") => text.push_str(part["text"].as_str().unwrap_or_default()),
                Some("refusal") => refusal = json::text(part, "/refusal"),
                _ => {}
            }
        }

        let called = output.iter().any(|item| item["type"] == "function_call");
        let finish = if called { FinishReason::ToolCall } else { finish(&body) };
        let reply = ChatReply {
            refusal,
            usage,
            model: json::text(&body, "/model"),
            request_id: json::text(&body, "/id"),
            ..ChatReply::new(text, finish)
        };
        Ok(answer::complete(answer, reply))
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        if refuses_mark(answer, quirks, request) {
            return Some(ServerQuirks { no_cache_mark: true, ..quirks });
        }

        let sent = SentFeatures {
            logprobs: quirks.alternatives(request.logprobs),
            limit: request.output_limit().filter(|_| quirks.limit == LimitField::Usual).map(|_| LIMIT),
            ..SentFeatures::new(request, quirks)
        };
        refusal::learn(answer, quirks, SchemaSupport::Lengthless, sent)
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    input: Vec<ResponsesItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<ResponsesText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'a str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    store: bool,
}

#[derive(Serialize)]
struct ResponsesItem<'a> {
    role: MessageRole,
    content: ResponsesContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<InputPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputPart<'a> {
    InputText {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_cache_breakpoint: Option<CacheBreakpoint>,
    },
    InputImage {
        image_url: String,
        detail: &'static str,
    },
}

#[derive(Serialize)]
struct ResponsesText<'a> {
    format: ResponsesFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponsesFormat<'a> {
    JsonSchema { name: &'a str, strict: bool, schema: &'a Value },
    JsonObject,
}

impl<'a> ResponsesFormat<'a> {
    fn from_format(format: &'a JsonSchemaFormat, support: SchemaSupport) -> Option<Self> {
        match support {
            SchemaSupport::Full | SchemaSupport::Lengthless => Some(Self::JsonSchema {
                name: &format.name,
                strict: format.strict,
                schema: format.schema.lengthless(),
            }),
            SchemaSupport::JsonObject => Some(Self::JsonObject),
            SchemaSupport::None => None,
        }
    }
}

fn items(request: &ChatRequest, knows_marks: bool) -> Result<Vec<ResponsesItem<'_>>, AskError> {
    let last = request.messages.len().saturating_sub(1);
    let is_marked = knows_marks && marks_first_part("openai", request);
    let messages = request.messages.iter().enumerate();
    messages.map(|(at, message)| item(message, is_marked && at == last)).collect()
}

fn item(message: &ChatMessage, is_marked: bool) -> Result<ResponsesItem<'_>, AskError> {
    if message.role == MessageRole::Tool {
        return Err(outgoing::tool_message());
    }

    let text = outgoing::text_only(&message.content).filter(|_| !is_marked);
    let content = if let Some(text) = text {
        ResponsesContent::Text(text)
    } else {
        let parts = message.content.iter().enumerate().map(|(at, part)| match part {
            Part::Text(text) => InputPart::InputText {
                text,
                prompt_cache_breakpoint: (is_marked && at == 0)
                    .then_some(CacheBreakpoint { mode: "explicit" }),
            },
            Part::Image { media_type, data } => InputPart::InputImage {
                image_url: format!("data:{media_type};base64,{data}"),
                detail: "auto",
            },
        });
        ResponsesContent::Parts(parts.collect())
    };
    Ok(ResponsesItem { role: message.role, content })
}

/// The error of a response that failed. Its HTTP status is 200 even if the request is at fault.
fn failure(answer: &HttpAnswer, mut said: ServerError, usage: TokenCounts) -> AskError {
    if said.code.starts_with("invalid_") || said.code.contains("content_policy") {
        said.status = said.status.or(Some(400));
    }
    answer::refused(answer, said, usage)
}

fn finish(body: &Value) -> FinishReason {
    let word = |path| json::at(body, path).and_then(Value::as_str);
    match (word("/status"), word("/incomplete_details/reason")) {
        (Some("completed"), _) => FinishReason::Stop,
        (status, Some(reason)) => match FinishReason::from_word(reason) {
            FinishReason::Other(_) => {
                FinishReason::Other(format!("{}: {reason}", status.unwrap_or("incomplete")))
            }
            known => known,
        },
        (status, None) => FinishReason::from_word(status.unwrap_or("unknown")),
    }
}

#[cfg(test)]
#[path = "openai_responses_tests.rs"]
mod tests;
