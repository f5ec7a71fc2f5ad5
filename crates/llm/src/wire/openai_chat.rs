//! OpenAI's chat completions format, which most other servers speak as well.

use std::borrow::Cow;

use assize_rubric::Usd;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer;
use super::dialect::{ChatDialect, LogprobsField};
use super::format::{HttpCall, KeyHeader, WireCodec};
use super::{json, outgoing, refusal};
use crate::error::AskError;
use crate::prompt_cache::marks_first_part;
use crate::quirks::{LimitField, SchemaSupport, SentFeatures, ServerQuirks};
use crate::reply::{ChatReply, FinishReason};
use crate::request::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part};
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;

/// The format, in one of its dialects.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiChat {
    dialect: ChatDialect,
}

impl OpenAiChat {
    /// The format in this dialect.
    pub fn new(dialect: ChatDialect) -> Self {
        Self { dialect }
    }

    fn limit_name(&self, quirks: ServerQuirks) -> Option<&'static str> {
        match quirks.limit {
            LimitField::Usual => Some(self.dialect.limit),
            LimitField::Other => Some(self.dialect.other_limit),
            LimitField::Dropped => None,
        }
    }

    /// The part of the schema to send: the dialect's or the learned one, whichever is less.
    fn schema_support(&self, quirks: ServerQuirks) -> SchemaSupport {
        quirks.schema.max(self.dialect.schema)
    }
}

impl WireCodec for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
        let limit_name = self.limit_name(quirks);
        let limit = |name| request.output_limit().filter(|_| limit_name == Some(name));
        let seed = |name| request.seed.filter(|_| !quirks.no_seed && self.dialect.seed == name);
        let logprobs = quirks.alternatives(request.logprobs);
        let body = ChatBody {
            model: &request.model,
            messages: messages(request, self.dialect == ChatDialect::OPENAI && !quirks.no_cache_mark),
            response_format: request
                .schema
                .as_ref()
                .and_then(|schema| ResponseFormat::from_format(schema, self.schema_support(quirks))),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            seed: seed("seed"),
            random_seed: seed("random_seed"),
            max_tokens: limit("max_tokens"),
            max_completion_tokens: limit("max_completion_tokens"),
            logprobs: logprobs.map(|count| match self.dialect.logprobs {
                LogprobsField::Count => LogprobsParameter::Count(count),
                LogprobsField::Flag | LogprobsField::Routed => LogprobsParameter::Flag(true),
            }),
            top_logprobs: logprobs.filter(|_| self.dialect.logprobs != LogprobsField::Count),
            provider: logprobs
                .filter(|_| self.dialect.logprobs == LogprobsField::Routed)
                .map(|_| ProviderRouting { require_parameters: true }),
        };

        outgoing::post(self.dialect.path, &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = usage(&body);
        let Some(choice) = json::at(&body, "/choices/0") else {
            return Err(answer::without_reply(answer, &body, "choices", usage));
        };
        for object in [&body, choice] {
            answer::refuse_named_error(answer, object, usage)?;
        }

        let content = json::at(choice, "/message/content").or_else(|| choice.get("text"));
        let (text, refused_part) = content.map(read_content).unwrap_or_default();
        let finish = finish(choice.get("finish_reason").and_then(Value::as_str));
        let reply = ChatReply {
            stated_cost: body.pointer("/usage/cost").and_then(Value::as_f64).and_then(Usd::from_dollars),
            refusal: json::at(choice, "/message/refusal").and_then(refusal_words).or(refused_part),
            usage,
            model: json::text(&body, "/model"),
            request_id: json::text(&body, "/id"),
            ..ChatReply::new(text, finish)
        };

        Ok(answer::complete(answer, reply))
    }

    fn limits_output(&self, quirks: ServerQuirks) -> bool {
        self.limit_name(quirks).is_some()
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        let routed = self.dialect.logprobs == LogprobsField::Routed && request.logprobs.is_some();
        if routed
            && answer.status == 404
            && json::server_error(&answer.body).message.contains("requested parameters")
        {
            return Some(ServerQuirks { no_logprobs: true, ..quirks });
        }

        if refuses_mark(answer, quirks, request) {
            return Some(ServerQuirks { no_cache_mark: true, ..quirks });
        }

        let schema_sent = request.schema.is_some() && self.schema_support(quirks) != SchemaSupport::None;
        let sent = SentFeatures {
            seed: (request.seed.is_some() && !quirks.no_seed).then_some(self.dialect.seed),
            logprobs: quirks.alternatives(request.logprobs),
            schema: schema_sent,
            limit: request.output_limit().and(self.limit_name(quirks)),
            ..SentFeatures::new(request, quirks)
        };
        refusal::learn(answer, quirks, self.dialect.schema, sent)
    }
}

/// Body of a request. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
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
    logprobs: Option<LogprobsParameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<ProviderRouting>,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: MessageRole,
    content: MessageContent<'a>,
}

/// Messages of text alone are sent as one string: many servers accept nothing else, and those that accept parts
/// differ in how they join them.
#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

impl<'a> From<&'a ChatMessage> for WireMessage<'a> {
    fn from(message: &'a ChatMessage) -> Self {
        let content = outgoing::text_only(&message.content).map_or_else(
            || MessageContent::Parts(message.content.iter().map(ContentPart::from).collect()),
            MessageContent::Text,
        );
        Self { role: message.role, content }
    }
}

/// The messages, with the mark of the beginning that other requests share, if the server knows marks.
fn messages(request: &ChatRequest, knows_marks: bool) -> Vec<WireMessage<'_>> {
    let mut messages: Vec<WireMessage<'_>> = request.messages.iter().map(WireMessage::from).collect();
    if knows_marks
        && marks_first_part("openai", request)
        && let (Some(last), Some(message)) = (request.messages.last(), messages.last_mut())
    {
        let mut parts: Vec<ContentPart<'_>> = last.content.iter().map(ContentPart::from).collect();
        if let Some(ContentPart::Text { prompt_cache_breakpoint, .. }) = parts.first_mut() {
            *prompt_cache_breakpoint = Some(CacheBreakpoint { mode: "explicit" });
            message.content = MessageContent::Parts(parts);
        }
    }
    messages
}

#[derive(Serialize)]
#[serde(untagged)]
enum LogprobsParameter {
    Flag(bool),
    Count(u8),
}

/// Restricts the servers that OpenRouter may choose from.
#[derive(Serialize)]
struct ProviderRouting {
    require_parameters: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_cache_breakpoint: Option<CacheBreakpoint>,
    },
    ImageUrl {
        image_url: ImageUrl,
    },
}

/// Marks the end of a prefix for the provider's cache.
#[derive(Serialize)]
pub(super) struct CacheBreakpoint {
    pub(super) mode: &'static str,
}

impl<'a> From<&'a Part> for ContentPart<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Text(text) => Self::Text { text, prompt_cache_breakpoint: None },
            Part::Image { media_type, data } => {
                Self::ImageUrl { image_url: ImageUrl { url: format!("data:{media_type};base64,{data}") } }
            }
        }
    }
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
    schema: Option<&'a RawValue>,
}

impl<'a> ResponseFormat<'a> {
    fn from_format(format: &'a JsonSchemaFormat, support: SchemaSupport) -> Option<Self> {
        match support {
            SchemaSupport::Full | SchemaSupport::Lengthless => {
                let is_full = support == SchemaSupport::Full;
                let schema = if is_full { &format.schema } else { format.schema.lengthless() };
                Some(Self::JsonSchema {
                    json_schema: JsonSchema {
                        name: &format.name,
                        strict: format.strict,
                        schema: schema.raw(),
                    },
                })
            }
            SchemaSupport::JsonObject => Some(Self::JsonObject),
            SchemaSupport::None => None,
        }
    }
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

/// The text of a refusal. A structured one is returned as its JSON.
fn refusal_words(refusal: &Value) -> Option<String> {
    match refusal {
        Value::Null | Value::Bool(false) => None,
        Value::String(words) => Some(words.clone()).filter(|words| !words.trim().is_empty()),
        other => Some(other.to_string()),
    }
}

/// Whether a server refused the mark of a prefix that was sent.
pub(super) fn refuses_mark(answer: &HttpAnswer, quirks: ServerQuirks, request: &ChatRequest) -> bool {
    answer.status == 400
        && !quirks.no_cache_mark
        && marks_first_part("openai", request)
        && String::from_utf8_lossy(&answer.body).contains("prompt_cache_breakpoint")
}

fn finish(reason: Option<&str>) -> FinishReason {
    match reason.unwrap_or("unknown") {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCall,
        other => FinishReason::from_word(other),
    }
}

fn usage(body: &Value) -> TokenCounts {
    let count = |paths: [&str; 2]| paths.iter().find_map(|path| json::count(body, path));
    let input = count(["/usage/prompt_tokens", "/usage/input_tokens"]);
    let visible = count(["/usage/completion_tokens", "/usage/output_tokens"]);
    TokenCounts {
        input,
        cached: count(["/usage/prompt_tokens_details/cached_tokens", "/usage/prompt_cache_hit_tokens"]),
        output: written(input, visible, json::count(body, "/usage/total_tokens")),
    }
}

/// Output tokens. Some servers, xAI's and Google's among them, count hidden reasoning only in the total.
fn written(input: Option<u64>, visible: Option<u64>, total: Option<u64>) -> Option<u64> {
    let all = total.zip(input).map(|(total, input)| total.saturating_sub(input));
    visible.map(|visible| visible.max(all.unwrap_or(0)))
}

#[cfg(test)]
#[path = "openai_chat_tests.rs"]
mod tests;
