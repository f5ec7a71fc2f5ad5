//! Anthropic's Messages format. It has neither a seed nor log-probabilities, and every request must limit its output.
//!
//! A reply schema is sent as the output format. Models that refuse it get a tool whose input has the schema and that
//! they must call; its input is then the reply's text.

use super::prelude::*;
use crate::prompt_cache::marks_first_part;

/// The version of the format that is used here.
pub(crate) const VERSION: &str = "2023-06-01";

/// The output limit if the request names none: enough for any judgement, and accepted by nearly every model.
const USUAL_LIMIT: u32 = 8192;

/// The output limit for models that refuse the usual one.
const SMALL_LIMIT: u32 = 4096;

/// The tool for the reply, if there is no output format.
const TOOL: &str = "reply";

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnthropicMessages;

impl WireCodec for AnthropicMessages {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "x-api-key", prefix: "" }
    }

    fn features(&self) -> Option<FormatFeatures> {
        Some(FormatFeatures { schema: SchemaSupport::Lengthless, ..FormatFeatures::default() })
    }

    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        let (system, others) = outgoing::apart(request)?;
        let mut messages: Vec<AnthropicMessage<'_>> =
            others.into_iter().map(message).filter(|message| !message.content.is_empty()).collect();
        if messages.is_empty() {
            return Err(outgoing::bad("every message is empty"));
        }
        if marks_first_part("anthropic", request)
            && let Some(AnthropicBlock::Text { cache_control, .. }) =
                messages.last_mut().and_then(|last| last.content.first_mut())
        {
            *cache_control = Some(json!({"type": "ephemeral"}));
        }

        let usual = if quirks.limit == LimitField::Usual { USUAL_LIMIT } else { SMALL_LIMIT };
        let schema = request.schema.as_ref();
        let format = schema.filter(|_| quirks.schema <= SchemaSupport::Lengthless);
        let tool = schema.filter(|_| quirks.schema == SchemaSupport::JsonObject);
        let body = AnthropicBody {
            model: &request.model,
            system: (!system.is_empty()).then_some(&system),
            messages,
            max_tokens: request.output_limit().unwrap_or(usual),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            output_config: format.map(
                |format| json!({"format": {"type": "json_schema", "schema": format.schema.lengthless()}}),
            ),
            tools: tool.map(|format| {
                let schema = format.schema.lengthless();
                json!([{"name": TOOL, "description": "Takes the reply.", "input_schema": schema}])
            }),
            tool_choice: tool.map(|_| json!({"type": "tool", "name": TOOL})),
        };

        let mut call = outgoing::post("/v1/messages".to_owned(), &body)?;
        call.headers.push(("anthropic-version", VERSION.into()));

        Ok(call)
    }

    /// Anthropic counts tokens read from and written to its cache separately from other input.
    fn usage(&self, body: &Value) -> TokenCounts {
        let cache = ["cache_read_input_tokens", "cache_creation_input_tokens"];
        answer::usage_beside_cache(body, ["input_tokens", cache[0], cache[1], "output_tokens"])
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let content = body.get("content").and_then(Value::as_array);
        let content = content.ok_or_else(|| answer::lacking("content", body))?;
        let finish = FinishReason::from_json(body.get("stop_reason"));
        let text: String = content
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect();

        let filled = content.iter().find(|block| block["type"] == "tool_use" && block["name"] == TOOL);
        let input = filled.and_then(|block| block.get("input"));
        let mut reply = answer::of_tool(input, ChatReply::new(text, finish));
        if body["stop_reason"] == "refusal" {
            let reply_text = Some(std::mem::take(&mut reply.text)).filter(|words| !words.is_empty());
            let detail = |name: &str| json::text(body, &format!("/stop_details/{name}"));
            reply.refusal = detail("explanation").or(reply_text).or_else(|| detail("category"));
        }

        Ok(ChatReply { model: json::text(body, "/model"), request_id: json::text(body, "/id"), ..reply })
    }

    fn limits_output(&self, _: ServerQuirks) -> bool {
        true
    }

    fn own_refusal(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        let is_about_limit = request.output_limit().is_none()
            && quirks.limit == LimitField::Usual
            && answer.status == 400
            && json::server_error(&answer.body).message.contains("maximum allowed number of output tokens");
        is_about_limit.then_some(ServerQuirks { limit: LimitField::Other, ..quirks })
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct AnthropicBody<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a String>,
    messages: Vec<AnthropicMessage<'a>>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

type AnthropicMessage<'a> = RoleMessage<Vec<AnthropicBlock<'a>>>;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value>,
    },
    Image {
        source: AnthropicImage<'a>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnthropicImage<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

/// Empty texts are refused by the server, so they are not sent.
fn message(message: &ChatMessage) -> AnthropicMessage<'_> {
    let content = message
        .content
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) if text.is_empty() => None,
            Part::Text(text) => Some(AnthropicBlock::Text { text, cache_control: None }),
            Part::Image { media_type, data } => {
                Some(AnthropicBlock::Image { source: AnthropicImage::Base64 { media_type, data } })
            }
        })
        .collect();
    AnthropicMessage { role: message.role, content }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
