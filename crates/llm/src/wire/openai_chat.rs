//! OpenAI's chat completions format, which most other servers speak as well.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::answer::{self, Said};
use super::dialect::Dialect;
use super::format::{HttpCall, KeyHeader, Wire};
use super::{json, outgoing, refusal};
use crate::error::AskError;
use crate::quirks::{LimitField, Quirks, SchemaSupport, Sent};
use crate::reply::{ChatReply, Finish, Usage};
use crate::request::{ChatMessage, ChatRequest, JsonSchemaFormat, Part, Role};
use crate::transport::HttpAnswer;

/// Names under which servers speak of the reply schema.
const SCHEMA_NAMES: [&str; 8] = [
    "response_format",
    "json_schema",
    "json_object",
    "guided_json",
    "grammar",
    "structured output",
    "structured outputs",
    "json mode",
];

/// The format, in one of its dialects.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiChat {
    dialect: Dialect,
}

impl OpenAiChat {
    /// The format in this dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }

    fn limit_name(&self, quirks: Quirks) -> Option<&'static str> {
        match quirks.limit {
            LimitField::Usual => Some(self.dialect.limit),
            LimitField::Other => Some(self.dialect.other_limit),
            LimitField::Dropped => None,
        }
    }

    /// What is sent at all: the dialect and what was learned, whichever takes less.
    fn schema_support(&self, quirks: Quirks) -> SchemaSupport {
        quirks.schema.max(self.dialect.schema)
    }
}

impl Wire for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: Quirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
        let limit_name = self.limit_name(quirks);
        let limit = |name| request.max_output_tokens.filter(|_| limit_name == Some(name));
        let seed = |name| request.seed.filter(|_| !quirks.no_seed && self.dialect.seed == name);
        let logprobs = request.logprobs.filter(|_| !quirks.no_logprobs);
        let body = Body {
            model: &request.model,
            messages: request.messages.iter().map(message).collect(),
            response_format: request
                .schema
                .as_ref()
                .and_then(|schema| ResponseFormat::of(schema, self.schema_support(quirks))),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            seed: seed("seed"),
            random_seed: seed("random_seed"),
            max_tokens: limit("max_tokens"),
            max_completion_tokens: limit("max_completion_tokens"),
            logprobs: logprobs.map(|_| true),
            top_logprobs: logprobs,
        };
        outgoing::post(self.dialect.path.to_owned(), &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = usage(&body);
        let Some(choice) = body.pointer("/choices/0") else {
            return Err(answer::without_reply(answer, &body, "choices", usage));
        };
        if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
            return Err(answer::refused(answer, json::error_value(error), usage));
        }
        let content = choice.pointer("/message/content").or_else(|| choice.get("text"));
        let (text, refused_part) = content.map(read_content).unwrap_or_default();
        Ok(answer::reply(
            answer,
            Said {
                text,
                finish: finish(choice.get("finish_reason")),
                refusal: json::text(choice, "/message/refusal").or(refused_part),
                usage,
                model: json::text(&body, "/model"),
                id: json::text(&body, "/id"),
            },
        ))
    }

    fn learn(&self, request: &ChatRequest, answer: &HttpAnswer, quirks: Quirks) -> Option<Quirks> {
        let schema_sent = request.schema.is_some() && self.schema_support(quirks) != SchemaSupport::None;
        let sent = Sent {
            temperature: request.temperature.is_some() && !quirks.no_temperature,
            seed: (request.seed.is_some() && !quirks.no_seed).then_some(self.dialect.seed),
            logprobs: request.logprobs.is_some() && !quirks.no_logprobs,
            schema: if schema_sent { &SCHEMA_NAMES } else { &[] },
            limit: request.max_output_tokens.and(self.limit_name(quirks)),
        };
        refusal::learn(answer, quirks, self.dialect.schema, sent)
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    random_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: Role,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a Value,
}

impl<'a> ResponseFormat<'a> {
    fn of(format: &'a JsonSchemaFormat, support: SchemaSupport) -> Option<Self> {
        match support {
            SchemaSupport::Full => Some(Self::JsonSchema {
                json_schema: JsonSchema { name: &format.name, strict: format.strict, schema: &format.schema },
            }),
            SchemaSupport::JsonObject => Some(Self::JsonObject),
            SchemaSupport::None => None,
        }
    }
}

/// Messages of text alone go out as one string: many servers take nothing else, and those that take parts differ in
/// how they join them.
fn message(message: &ChatMessage) -> Message<'_> {
    let content = if let Some(text) = outgoing::text_only(&message.content) {
        Content::Text(text)
    } else {
        let parts = message.content.iter().map(|part| match part {
            Part::Text(text) => ContentPart::Text { text },
            Part::Image { media_type, data } => ContentPart::ImageUrl {
                image_url: ImageUrl { url: format!("data:{media_type};base64,{data}") },
            },
        });
        Content::Parts(parts.collect())
    };
    Message { role: message.role, content }
}

/// The visible text and the refusal in a message's content: a string, a list of parts, or nothing.
fn read_content(content: &Value) -> (String, Option<String>) {
    match content {
        Value::String(text) => (text.clone(), None),
        Value::Array(parts) => {
            let mut text = String::new();
            let mut refusal = None;
            for part in parts {
                match part {
                    Value::String(words) => text.push_str(words),
                    // Parts of other types, such as hidden reasoning, are not part of the answer.
                    part => match part.get("type").and_then(Value::as_str).unwrap_or("text") {
                        "text" | "output_text" => {
                            text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
                        }
                        "refusal" => refusal = json::text(part, "/refusal"),
                        _ => {}
                    },
                }
            }
            (text, refusal)
        }
        _ => (String::new(), None),
    }
}

fn finish(reason: Option<&Value>) -> Finish {
    match reason.and_then(Value::as_str).unwrap_or("unknown") {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Finish::Stop,
        "length" | "max_tokens" | "model_length" => Finish::Length,
        "content_filter" | "safety" => Finish::ContentFilter,
        "tool_calls" | "function_call" | "tool_use" => Finish::ToolCall,
        other => Finish::Other(other.to_owned()),
    }
}

fn usage(body: &Value) -> Usage {
    let count = |paths: [&str; 2]| paths.iter().find_map(|path| json::count(body, path));
    Usage {
        input: count(["/usage/prompt_tokens", "/usage/input_tokens"]),
        cached: count(["/usage/prompt_tokens_details/cached_tokens", "/usage/prompt_cache_hit_tokens"]),
        output: count(["/usage/completion_tokens", "/usage/output_tokens"]),
    }
}

#[cfg(test)]
#[path = "openai_chat_tests.rs"]
mod tests;
