//! Ollama's own chat format. A schema becomes a grammar that the reply can't violate.
//!
//! By default, the server silently truncates a prompt that is longer than its window. So the request forbids that. It
//! asks for another window only if the user set one: the server reloads the model for it, and others may be using it.

use super::prelude::*;

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OllamaChat;

impl WireCodec for OllamaChat {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn features(&self) -> Option<FormatFeatures> {
        Some(FormatFeatures {
            seed: Some("seed"),
            logprobs: true,
            limits: [Some("num_predict"), None],
            ..FormatFeatures::default()
        })
    }

    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        let logprobs = quirks.alternatives(request.logprobs);
        let messages: Vec<OllamaMessage<'_>> = request.messages.iter().map(message).collect();
        let limit = request.output_limit().filter(|_| quirks.limit == LimitField::Usual);
        let options = OllamaOptions {
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            seed: request.seed.filter(|_| !quirks.no_seed),
            num_predict: limit,
            num_ctx: request.context_tokens,
        };

        let body = OllamaBody {
            model: &request.model,
            messages,
            stream: false,
            truncate: false,
            shift: false,
            format: request
                .schema
                .as_ref()
                .and_then(|schema| OllamaFormat::from_format(schema, quirks.schema)),
            options,
            logprobs: logprobs.map(|_| true),
            top_logprobs: logprobs,
        };
        outgoing::post("/api/chat".to_owned(), &body)
    }

    fn usage(&self, body: &Value) -> TokenCounts {
        TokenCounts {
            input: json::count(body, "/prompt_eval_count"),
            cached: None,
            output: json::count(body, "/eval_count"),
        }
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let message = body.get("message").filter(|message| message.is_object());
        let message = message.ok_or_else(|| answer::lacking("message", body))?;
        if body.get("done").is_some_and(|done| done != true) {
            return Err("the answer is only the beginning of one".into());
        }

        let called =
            message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
        let text = message["content"].as_str().unwrap_or_default();
        let finish =
            if called { FinishReason::ToolCall } else { FinishReason::from_json(body.get("done_reason")) };
        Ok(ChatReply { model: json::text(body, "/model"), ..ChatReply::new(text, finish) })
    }
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
struct OllamaBody<'a> {
    model: &'a str,
    messages: Vec<OllamaMessage<'a>>,
    stream: bool,
    truncate: bool,
    shift: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OllamaFormat<'a>>,
    options: OllamaOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
}

#[derive(Serialize)]
struct OllamaMessage<'a> {
    role: MessageRole,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OllamaFormat<'a> {
    Schema(&'a Value),
    Word(&'static str),
}

impl<'a> OllamaFormat<'a> {
    fn from_format(format: &'a JsonSchemaFormat, support: SchemaSupport) -> Option<Self> {
        match support {
            SchemaSupport::Full => Some(Self::Schema(&format.schema)),
            SchemaSupport::Lengthless => Some(Self::Schema(format.schema.lengthless())),
            SchemaSupport::JsonObject => Some(Self::Word("json")),
            SchemaSupport::None => None,
        }
    }
}

#[derive(Serialize)]
struct OllamaOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u64>,
}

fn message(message: &ChatMessage) -> OllamaMessage<'_> {
    let images = message.content.iter().filter_map(|part| match part {
        Part::Image { data, .. } => Some(data.as_str()),
        Part::Text(_) => None,
    });
    let content = outgoing::text_only(&message.content).unwrap_or_else(|| {
        let texts = message.content.iter().filter_map(|part| match part {
            Part::Text(text) => Some(&**text),
            Part::Image { .. } => None,
        });
        Cow::Owned(texts.collect())
    });
    OllamaMessage { role: message.role, content, images: images.collect() }
}

#[cfg(test)]
#[path = "ollama_tests.rs"]
mod tests;
