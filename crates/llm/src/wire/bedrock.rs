//! Amazon Bedrock's Converse format, with an API key as bearer token. It has neither a seed nor log-probabilities.
//!
//! A reply schema is sent as a tool whose input has the schema and that the model must call; its input is then the reply's
//! text. Models that take no tools are asked for the same in words alone.

use serde::Serialize;
use serde_json::Value;

use super::answer::{self, Said};
use super::format::{HttpCall, KeyHeader, Wire};
use super::{json, outgoing, refusal};
use crate::error::AskError;
use crate::quirks::{LimitField, Quirks, SchemaSupport, Sent};
use crate::reply::{ChatReply, Finish, Usage};
use crate::request::{ChatMessage, ChatRequest, Part, Role};
use crate::transport::HttpAnswer;

/// The tool that takes the reply.
const TOOL: &str = "reply";

/// In lower case, as refusals are compared.
const SCHEMA_NAMES: [&str; 6] = ["toolconfig", "toolchoice", "tool use", "tool_use", "tools", "toolspec"];

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
        let messages: Vec<Message<'_>> = others
            .into_iter()
            .map(message)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .filter(|message| !message.content.is_empty())
            .collect();
        if messages.is_empty() {
            return Err(outgoing::bad("every message is empty"));
        }
        let schema = request.schema.as_ref().filter(|_| quirks.schema == SchemaSupport::Full);
        let config = Inference {
            max_tokens: request.output_limit().filter(|_| quirks.limit == LimitField::Usual),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
        };
        let body = Body {
            messages,
            system: (!system.is_empty()).then(|| [Text { text: &system }]),
            inference_config: (!config.is_empty()).then_some(config),
            tool_config: schema.map(|format| ToolConfig {
                tools: [Tool {
                    tool_spec: ToolSpec {
                        name: TOOL,
                        description: "Takes the reply.",
                        input_schema: InputSchema { json: &format.schema },
                    },
                }],
                tool_choice: ToolChoice { tool: Named { name: TOOL } },
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
        Ok(answer::reply(answer, Said { text, finish, refusal: None, usage, model: None, id: None }))
    }

    fn learn(&self, request: &ChatRequest, answer: &HttpAnswer, quirks: Quirks) -> Option<Quirks> {
        let schema_sent = request.schema.is_some() && quirks.schema == SchemaSupport::Full;
        let sent = Sent {
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
    for part in &message.content {
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

fn finish(reason: Option<&Value>) -> Finish {
    match reason.and_then(Value::as_str).unwrap_or("unknown") {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "guardrail_intervened" | "content_filtered" => Finish::ContentFilter,
        "tool_use" => Finish::ToolCall,
        other => Finish::Other(other.to_owned()),
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
