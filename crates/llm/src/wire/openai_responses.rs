//! OpenAI's Responses format. It has no seed.

use super::outgoing::TextOrParts;
use super::prelude::*;
use crate::prompt_cache::marks_first_part;

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

impl WireCodec for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn features(&self) -> Option<FormatFeatures> {
        Some(FormatFeatures {
            logprobs: true,
            limits: [Some("max_output_tokens"), None],
            schema: SchemaSupport::Lengthless,
            effort: true,
            cache_marks: &["prompt_cache_breakpoint"],
            ..FormatFeatures::default()
        })
    }

    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        let logprobs = quirks.alternatives(request.logprobs);
        let body = ResponsesBody {
            model: &request.model,
            input: items(request, !quirks.no_cache_mark)?,
            text: request.schema.as_ref().and_then(|format| text_format(format, quirks.schema)),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            max_output_tokens: request.output_limit().filter(|_| quirks.limit == LimitField::Usual),
            reasoning: request.reasoning_effort.as_deref().map(|effort| json!({"effort": effort})),
            include: logprobs.map(|_| ["message.output_text.logprobs"]),
            top_logprobs: logprobs,
            // Replies are stored here, not at the provider.
            store: false,
        };

        outgoing::post("/responses".to_owned(), &body)
    }

    fn usage(&self, body: &Value) -> TokenCounts {
        TokenCounts {
            input: json::count(body, "/usage/input_tokens"),
            cached: json::count(body, "/usage/input_tokens_details/cached_tokens"),
            output: json::count(body, "/usage/output_tokens"),
        }
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let output = body.get("output").and_then(Value::as_array);
        let output = output.ok_or_else(|| answer::lacking("output", body))?;
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
        let finish = if called { FinishReason::ToolCall } else { finish(body) };
        Ok(ChatReply {
            refusal,
            model: json::text(body, "/model"),
            request_id: json::text(body, "/id"),
            ..ChatReply::new(text, finish)
        })
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    input: Vec<ResponsesItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'a str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    store: bool,
}

type ResponsesItem<'a> = RoleMessage<TextOrParts<'a, InputPart<'a>>>;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputPart<'a> {
    InputText {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_cache_breakpoint: Option<Value>,
    },
    InputImage {
        image_url: String,
        detail: &'static str,
    },
}

fn text_format(format: &JsonSchemaFormat, support: SchemaSupport) -> Option<Value> {
    let JsonSchemaFormat { name, strict, schema } = format;
    let format = match support {
        SchemaSupport::Full | SchemaSupport::Lengthless => {
            json!({"type": "json_schema", "name": name, "strict": strict, "schema": schema.lengthless()})
        }
        SchemaSupport::JsonObject => json!({"type": "json_object"}),
        SchemaSupport::None => return None,
    };
    Some(json!({"format": format}))
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
        TextOrParts::Text(text)
    } else {
        let parts = message.content.iter().enumerate().map(|(at, part)| match part {
            Part::Text(text) => InputPart::InputText {
                text,
                prompt_cache_breakpoint: (is_marked && at == 0).then(|| json!({"mode": "explicit"})),
            },
            Part::Image { media_type, data } => InputPart::InputImage {
                image_url: format!("data:{media_type};base64,{data}"),
                detail: "auto",
            },
        });
        TextOrParts::Parts(parts.collect())
    };
    Ok(ResponsesItem { role: message.role, content })
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
