//! Amazon Bedrock's Converse format. It has neither a seed nor log-probabilities.
//!
//! A reply schema is sent as a tool whose input has the schema and that the model must call; its input is then
//! the reply's text. Models that can't be forced to call it get the schema as their output format. Models that
//! accept neither get the schema only in the prompt.

use super::prelude::*;
use crate::prompt_cache::marks_first_part;

/// The tool that takes the reply.
const TOOL: &str = "reply";

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct BedrockConverse;

impl WireCodec for BedrockConverse {
    fn name(&self) -> &'static str {
        "bedrock-converse"
    }

    fn features(&self) -> Option<FormatFeatures> {
        Some(FormatFeatures {
            limits: [Some("maxtokens"), None],
            schema: SchemaSupport::Lengthless,
            cache_marks: &["prompt caching", "cachepoint", "cache point"],
            ..FormatFeatures::default()
        })
    }

    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
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
        if !quirks.no_cache_mark
            && marks_first_part("bedrock", request)
            && let Some(last) = messages.last_mut()
        {
            last.content.insert(1, BedrockBlock::CachePoint(json!({"type": "default"})));
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
            system: (!system.is_empty()).then(|| [json!({ "text": system })]),
            inference_config: (!config.is_empty()).then_some(config),
            tool_config: tool.map(|format| {
                let schema = json!({"json": format.schema.lengthless()});
                let tool = json!({"name": TOOL, "description": "Takes the reply.", "inputSchema": schema});
                json!({"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": TOOL}}})
            }),
            output_config: format.map(|format| {
                // The schema is JSON within a string here.
                let schema = json!({"name": format.name, "schema": format.schema.lengthless().json()});
                json!({"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}})
            }),
        };

        outgoing::post(format!("/model/{}/converse", outgoing::segment(&request.model)), &body)
    }

    /// Tokens read from and written to the cache are counted separately from other input.
    fn usage(&self, body: &Value) -> TokenCounts {
        let names = ["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens"];
        answer::usage_beside_cache(body, names)
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let content = json::at(body, "/output/message/content").and_then(Value::as_array);
        let content = content.ok_or_else(|| answer::lacking("output", body))?;
        let finish = FinishReason::from_json(body.get("stopReason"));
        let text: String = content.iter().filter_map(|block| block["text"].as_str()).collect();
        let filled = content.iter().map(|block| &block["toolUse"]).find(|tool| tool["name"] == TOOL);
        Ok(answer::of_tool(filled.and_then(|tool| tool.get("input")), ChatReply::new(text, finish)))
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BedrockBody<'a> {
    messages: Vec<BedrockMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Value; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_config: Option<InferenceConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
}

type BedrockMessage<'a> = RoleMessage<Vec<BedrockBlock<'a>>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum BedrockBlock<'a> {
    Text(&'a str),
    Image { format: &'a str, source: BedrockImage<'a> },
    CachePoint(Value),
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

#[cfg(test)]
#[path = "bedrock_tests.rs"]
mod tests;
