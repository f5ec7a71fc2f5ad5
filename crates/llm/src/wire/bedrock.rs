//! Amazon Bedrock's Converse format, with an API key as bearer token. It has neither a seed nor
//! log-probabilities.
//!
//! A reply schema is sent as a tool whose input has the schema and that the model must call; its input is then
//! the reply's text. Models that can't be forced to call it get the schema as their output format. Models that
//! accept neither get the schema only in the prompt.

use serde::Serialize;
use serde_json::Value;

use super::answer;
use super::format::{HttpCall, KeyHeader, WireCodec};
use super::{json, outgoing, refusal};
use crate::error::AskError;
use crate::prompt_cache::{USUAL_CACHED_BYTES, cached_prefix_bytes};
use crate::quirks::{LimitField, SchemaSupport, SentFeatures, ServerQuirks};
use crate::reply::{ChatReply, FinishReason};
use crate::request::{ChatMessage, ChatRequest, MessageRole, Part};
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;

/// The tool that takes the reply.
const TOOL: &str = "reply";

const LIMIT: &str = "maxtokens";

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct BedrockConverse;

impl WireCodec for BedrockConverse {
    fn name(&self) -> &'static str {
        "bedrock-converse"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "authorization", prefix: "Bearer " }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
        let (system, others) = outgoing::apart(request)?;
        let mut messages: Vec<BedrockMessage<'_>> = others
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
        let tool = schema.filter(|_| quirks.schema <= SchemaSupport::Lengthless);
        let format = schema.filter(|_| quirks.schema == SchemaSupport::JsonObject);
        let config = InferenceConfig {
            max_tokens: request.output_limit().filter(|_| quirks.limit == LimitField::Usual),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
        };
        let body = BedrockBody {
            messages,
            system: (!system.is_empty()).then(|| [BedrockText { text: &system }]),
            inference_config: (!config.is_empty()).then_some(config),
            tool_config: tool.map(|format| ToolConfig {
                tools: [BedrockTool {
                    tool_spec: ToolSpec {
                        name: TOOL,
                        description: "Takes the reply.",
                        input_schema: InputSchema { json: format.schema.lengthless() },
                    },
                }],
                tool_choice: BedrockToolChoice { tool: NamedTool { name: TOOL } },
            }),
            output_config: format.map(|format| BedrockOutputConfig {
                text_format: TextFormat::JsonSchema {
                    structure: StructuredOutput {
                        json_schema: SchemaDefinition {
                            name: &format.name,
                            schema: format.schema.lengthless().json(),
                        },
                    },
                },
            }),
        };

        outgoing::post(format!("/model/{}/converse", outgoing::segment(&request.model)), &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = usage(&body);
        answer::refuse_named_error(answer, &body, usage)?;
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
            if finish == FinishReason::ToolCall {
                finish = FinishReason::Stop;
            }
        }

        Ok(answer::complete(answer, ChatReply { usage, ..ChatReply::new(text, finish) }))
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        if request.cache_prefix && !quirks.no_cache_mark && refuses_mark(answer) {
            return Some(ServerQuirks { no_cache_mark: true, ..quirks });
        }

        let sent = SentFeatures {
            limit: request.output_limit().filter(|_| quirks.limit == LimitField::Usual).map(|_| LIMIT),
            ..SentFeatures::new(request, quirks)
        };
        refusal::learn(answer, quirks, SchemaSupport::Lengthless, sent)
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BedrockBody<'a> {
    messages: Vec<BedrockMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[BedrockText<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_config: Option<InferenceConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<BedrockOutputConfig<'a>>,
}

#[derive(Serialize)]
struct BedrockMessage<'a> {
    role: MessageRole,
    content: Vec<BedrockBlock<'a>>,
}

#[derive(Serialize)]
struct BedrockText<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum BedrockBlock<'a> {
    Text(&'a str),
    Image { format: &'a str, source: BedrockImage<'a> },
    CachePoint(CachePoint),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum CachePoint {
    Default,
}

#[derive(Serialize)]
struct BedrockImage<'a> {
    bytes: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InferenceConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

impl InferenceConfig {
    const fn is_empty(&self) -> bool {
        self.max_tokens.is_none() && self.temperature.is_none()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    tools: [BedrockTool<'a>; 1],
    tool_choice: BedrockToolChoice,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BedrockTool<'a> {
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
struct BedrockOutputConfig<'a> {
    text_format: TextFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TextFormat<'a> {
    JsonSchema { structure: StructuredOutput<'a> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StructuredOutput<'a> {
    json_schema: SchemaDefinition<'a>,
}

/// The schema is JSON within a string here.
#[derive(Serialize)]
struct SchemaDefinition<'a> {
    name: &'a str,
    schema: &'a str,
}

#[derive(Serialize)]
struct BedrockToolChoice {
    tool: NamedTool,
}

#[derive(Serialize)]
struct NamedTool {
    name: &'static str,
}

/// Empty texts are refused by the server, so they are not sent.
fn message(message: &ChatMessage) -> Result<BedrockMessage<'_>, AskError> {
    let mut content = Vec::new();
    for part in &*message.content {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => content.push(BedrockBlock::Text(text)),
            Part::Image { media_type, data } => {
                let format = media_type
                    .strip_prefix("image/")
                    .filter(|format| ["png", "jpeg", "gif", "webp"].contains(format))
                    .ok_or_else(|| outgoing::bad(format!("this provider takes no {media_type}")))?;
                content.push(BedrockBlock::Image { format, source: BedrockImage { bytes: data } });
            }
        }
    }

    Ok(BedrockMessage { role: message.role, content })
}

/// Marks the end of what later requests share with this one: the first part of the last message. It is marked
/// only if more parts follow and the whole prefix is long enough to be cached.
fn mark_shared_prefix(model: &str, system_bytes: usize, messages: &mut [BedrockMessage<'_>]) {
    let Some(least) = cached_prefix_bytes("bedrock", model) else { return };
    let bytes = |block: &BedrockBlock<'_>| match block {
        BedrockBlock::Text(text) => text.len(),
        // A picture may have as many tokens as the shortest cached prefix.
        BedrockBlock::Image { .. } => USUAL_CACHED_BYTES,
        BedrockBlock::CachePoint(_) => 0,
    };

    let Some((last, earlier)) = messages.split_last_mut() else { return };
    if last.content.len() < 2 || last.role != MessageRole::User {
        return;
    }

    let shared = earlier.iter().flat_map(|message| &message.content).chain(last.content.first());
    if system_bytes + shared.map(bytes).sum::<usize>() >= least {
        last.content.insert(1, BedrockBlock::CachePoint(CachePoint::Default));
    }
}

/// Whether a model without a prompt cache refused the mark.
fn refuses_mark(answer: &HttpAnswer) -> bool {
    let message = json::server_error(&answer.body).message.to_ascii_lowercase();
    matches!(answer.status, 400 | 403)
        && ["prompt caching", "cachepoint", "cache point"].iter().any(|name| message.contains(name))
}

fn finish(reason: Option<&Value>) -> FinishReason {
    match reason.and_then(Value::as_str).unwrap_or("unknown") {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "guardrail_intervened" | "content_filtered" => FinishReason::ContentFilter,
        "tool_use" => FinishReason::ToolCall,
        other => FinishReason::from_word(other),
    }
}

/// Tokens read from and written to the cache are counted separately from other input.
fn usage(body: &Value) -> TokenCounts {
    let count = |name: &str| json::count(body, &format!("/usage/{name}"));
    let cached = count("cacheReadInputTokens");
    let written = count("cacheWriteInputTokens");
    TokenCounts {
        input: count("inputTokens")
            .map(|rest| rest.saturating_add(cached.unwrap_or(0)).saturating_add(written.unwrap_or(0))),
        cached,
        output: count("outputTokens"),
    }
}

#[cfg(test)]
#[path = "bedrock_tests.rs"]
mod tests;
