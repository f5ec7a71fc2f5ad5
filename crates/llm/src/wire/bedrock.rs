//! Amazon Bedrock's Converse format, with an API key as bearer token. It has neither a seed nor log-probabilities.
//!
//! A reply schema is sent as a tool whose input has the schema and that the model must call; its input is then the reply's
//! text. Models that can't be made to call it get the schema as their output format, and those that take none are asked
//! for the same in words alone.

use serde::Serialize;
use serde_json::Value;

use super::answer;
use super::format::{HttpCall, KeyHeader, Wire};
use super::{json, outgoing, refusal};
use crate::error::AskError;
use crate::prompt_cache::{USUAL_CACHED_BYTES, cached_prefix_bytes};
use crate::quirks::{LimitField, Quirks, SchemaSupport, Sent};
use crate::reply::{ChatReply, Finish, Usage};
use crate::request::{ChatMessage, ChatRequest, Part, Role};
use crate::transport::HttpAnswer;

/// The tool that takes the reply.
const TOOL: &str = "reply";

/// In lower case, as refusals are compared.
const SCHEMA_NAMES: [&str; 11] = [
    "toolconfig",
    "toolchoice",
    "tool use",
    "tool_use",
    "tools",
    "toolspec",
    "outputconfig",
    "output_config",
    "textformat",
    "structured output",
    "structured outputs",
];

const LIMIT: &str = "maxtokens";

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bedrock;

impl Wire for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock-converse"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: Quirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
        let (system, others) = outgoing::apart(request)?;
        let mut messages: Vec<Message<'_>> = others
            .into_iter()
            .map(message)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .filter(|message| !message.content.is_empty())
            .collect();
        if messages.is_empty() {
            return Err(outgoing::bad("every message is empty"));
        }
        if request.cache_prefix && !quirks.no_cache_mark {
            mark_shared_prefix(&request.model, system.len(), &mut messages);
        }
        let schema = request.schema.as_ref();
        let tool = schema.filter(|_| quirks.schema == SchemaSupport::Full);
        let format = schema.filter(|_| quirks.schema == SchemaSupport::JsonObject);
        let config = Inference {
            max_tokens: request.output_limit().filter(|_| quirks.limit == LimitField::Usual),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
        };
        let body = Body {
            messages,
            system: (!system.is_empty()).then(|| [Text { text: &system }]),
            inference_config: (!config.is_empty()).then_some(config),
            tool_config: tool.map(|format| ToolConfig {
                tools: [Tool {
                    tool_spec: ToolSpec {
                        name: TOOL,
                        description: "Takes the reply.",
                        input_schema: InputSchema { json: &format.schema },
                    },
                }],
                tool_choice: ToolChoice { tool: Named { name: TOOL } },
            }),
            output_config: format.map(|format| OutputConfig {
                text_format: TextFormat::JsonSchema {
                    structure: Structure {
                        json_schema: Definition { name: &format.name, schema: format.schema.json() },
                    },
                },
            }),
        };
        outgoing::post(format!("/model/{}/converse", outgoing::segment(&request.model)), &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = usage(&body);
        let content = json::at(&body, "/output/message/content").and_then(Value::as_array);
        let Some(content) = content else {
            return Err(answer::without_reply(answer, &body, "output", usage));
        };
        let mut finish = finish(body.get("stopReason"));
        let mut text: String = content.iter().filter_map(|block| block["text"].as_str()).collect();
        let filled = content.iter().map(|block| &block["toolUse"]).find(|tool| tool["name"] == TOOL);
        if let Some(input) = filled.and_then(|tool| tool.get("input")) {
            // What the model wrote before it called the tool is not part of the reply.
            text = input.to_string();
            if finish == Finish::ToolCall {
                finish = Finish::Stop;
            }
        }
        Ok(answer::complete(answer, ChatReply { usage, ..ChatReply::new(text, finish) }))
    }

    fn learn(&self, request: &ChatRequest, answer: &HttpAnswer, quirks: Quirks) -> Option<Quirks> {
        if request.cache_prefix && !quirks.no_cache_mark && refuses_mark(answer) {
            return Some(Quirks { no_cache_mark: true, ..quirks });
        }
        let schema_sent = request.schema.is_some() && quirks.schema != SchemaSupport::None;
        let sent = Sent {
            system: quirks.sends_system(request),
            temperature: request.temperature.is_some() && !quirks.no_temperature,
            ceiling: request.ceiling(),
            schema: if schema_sent { &SCHEMA_NAMES } else { &[] },
            limit: request.output_limit().filter(|_| quirks.limit == LimitField::Usual).map(|_| LIMIT),
            ..Sent::default()
        };
        refusal::learn(answer, quirks, SchemaSupport::Full, sent)
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Text<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_config: Option<Inference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Block<'a> {
    Text(&'a str),
    Image { format: &'a str, source: Source<'a> },
    CachePoint(CachePoint),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum CachePoint {
    Default,
}

#[derive(Serialize)]
struct Source<'a> {
    bytes: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inference {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

impl Inference {
    const fn is_empty(&self) -> bool {
        self.max_tokens.is_none() && self.temperature.is_none()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    tools: [Tool<'a>; 1],
    tool_choice: ToolChoice,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    tool_spec: ToolSpec<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolSpec<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: InputSchema<'a>,
}

#[derive(Serialize)]
struct InputSchema<'a> {
    json: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutputConfig<'a> {
    text_format: TextFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TextFormat<'a> {
    JsonSchema { structure: Structure<'a> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Structure<'a> {
    json_schema: Definition<'a>,
}

/// The schema is JSON within a string here.
#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    schema: &'a str,
}

#[derive(Serialize)]
struct ToolChoice {
    tool: Named,
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
}

/// Empty texts are refused, so they are not sent.
fn message(message: &ChatMessage) -> Result<Message<'_>, AskError> {
    let mut content = Vec::new();
    for part in &*message.content {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => content.push(Block::Text(text)),
            Part::Image { media_type, data } => {
                let format = media_type
                    .strip_prefix("image/")
                    .filter(|format| ["png", "jpeg", "gif", "webp"].contains(format))
                    .ok_or_else(|| outgoing::bad(format!("this provider takes no {media_type}")))?;
                content.push(Block::Image { format, source: Source { bytes: data } });
            }
        }
    }
    Ok(Message { role: message.role, content })
}

/// Marks the end of what further requests will have in common with this one, which is the first part of its last
/// message, where more follows and the whole prefix is long enough to be cached.
fn mark_shared_prefix(model: &str, system_bytes: usize, messages: &mut [Message<'_>]) {
    let Some(least) = cached_prefix_bytes("bedrock", model) else { return };
    let bytes = |block: &Block<'_>| match block {
        Block::Text(text) => text.len(),
        // As many tokens as a picture may have.
        Block::Image { .. } => USUAL_CACHED_BYTES,
        Block::CachePoint(_) => 0,
    };
    let Some((last, earlier)) = messages.split_last_mut() else { return };
    if last.content.len() < 2 || last.role != Role::User {
        return;
    }
    let shared = earlier.iter().flat_map(|message| &message.content).chain(last.content.first());
    if system_bytes + shared.map(bytes).sum::<usize>() >= least {
        last.content.insert(1, Block::CachePoint(CachePoint::Default));
    }
}

/// Whether a model that has no prompt cache refused the mark.
fn refuses_mark(answer: &HttpAnswer) -> bool {
    let message = json::server_error(&answer.body).message.to_ascii_lowercase();
    matches!(answer.status, 400 | 403)
        && ["prompt caching", "cachepoint", "cache point"].iter().any(|name| message.contains(name))
}

fn finish(reason: Option<&Value>) -> Finish {
    match reason.and_then(Value::as_str).unwrap_or("unknown") {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "guardrail_intervened" | "content_filtered" => Finish::ContentFilter,
        "tool_use" => Finish::ToolCall,
        other => Finish::of_word(other),
    }
}

/// Tokens read from and written to the cache are counted apart from other input.
fn usage(body: &Value) -> Usage {
    let count = |name: &str| json::count(body, &format!("/usage/{name}"));
    let cached = count("cacheReadInputTokens");
    let written = count("cacheWriteInputTokens");
    Usage {
        input: count("inputTokens")
            .map(|rest| rest.saturating_add(cached.unwrap_or(0)).saturating_add(written.unwrap_or(0))),
        cached,
        output: count("outputTokens"),
    }
}

#[cfg(test)]
#[path = "bedrock_tests.rs"]
mod tests;
