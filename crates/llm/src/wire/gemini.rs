//! Google's generateContent format, as the Gemini API speaks it. The key travels in a header, never in the address.

use super::prelude::*;
use crate::output_limit::family_version;

/// The format, at one of its two servers.
#[derive(Debug, Clone, Copy)]
pub enum GeminiGenerate {
    /// The Gemini API.
    Api,
    /// Google Cloud, with an access token instead of a key. Project and location are part of the address.
    Vertex,
}

impl WireCodec for GeminiGenerate {
    fn name(&self) -> &'static str {
        match self {
            Self::Api => "gemini",
            Self::Vertex => "vertex",
        }
    }

    fn key_header(&self) -> KeyHeader {
        match self {
            Self::Api => KeyHeader { name: "x-goog-api-key", prefix: "" },
            Self::Vertex => KeyHeader { name: "authorization", prefix: "Bearer " },
        }
    }

    fn features(&self) -> Option<FormatFeatures> {
        Some(FormatFeatures {
            seed: Some("seed"),
            logprobs: true,
            limits: [Some("maxoutputtokens"), None],
            schema: SchemaSupport::Lengthless,
            ..FormatFeatures::default()
        })
    }

    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        let (system, others) = outgoing::apart(request)?;
        let schema = request.schema.as_ref();
        let logprobs = quirks.alternatives(request.logprobs);
        let config = GenerationConfig {
            response_mime_type: schema
                .filter(|_| quirks.schema != SchemaSupport::None)
                .map(|_| "application/json"),
            response_json_schema: schema
                .filter(|_| quirks.schema <= SchemaSupport::Lengthless)
                .map(|format| &**format.schema.lengthless()),
            temperature: request.temperature.filter(|degrees| {
                !(quirks.no_temperature || *degrees == 0.0 && needs_its_temperature(&request.model))
            }),
            // The field is a signed 32-bit number.
            seed: request.seed.filter(|_| !quirks.no_seed).map(|seed| (seed & 0x7FFF_FFFF) as u32),
            max_output_tokens: request.output_limit().filter(|_| quirks.limit == LimitField::Usual),
            response_logprobs: logprobs.map(|_| true),
            // The server refuses 0 alternatives; leaving the number out has that meaning.
            logprobs: logprobs.filter(|alternatives| *alternatives > 0),
        };

        let body = GeminiBody {
            system_instruction: (!system.is_empty())
                .then_some(SystemInstruction { parts: [GeminiPart::Text(Cow::Owned(system))] }),
            contents: others.into_iter().map(content).collect(),
            generation_config: config,
        };

        let path = match request.model.strip_prefix("models/").unwrap_or(&request.model) {
            tuned if tuned.starts_with("tunedModels/") => format!("/{tuned}:generateContent"),
            model => format!("/models/{}:generateContent", outgoing::segment(model)),
        };
        outgoing::post(path, &body)
    }

    /// Hidden reasoning is counted separately from visible tokens.
    fn usage(&self, body: &Value) -> TokenCounts {
        let count = |name: &str| json::count(body, &format!("/usageMetadata/{name}"));
        let thoughts = count("thoughtsTokenCount");
        TokenCounts {
            input: count("promptTokenCount"),
            cached: count("cachedContentTokenCount"),
            output: count("candidatesTokenCount")
                .map(|visible| visible.saturating_add(thoughts.unwrap_or(0)))
                .or(thoughts),
        }
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let blocked = json::text(body, "/promptFeedback/blockReason");
        let candidate = json::at(body, "/candidates/0");
        if candidate.is_none() && blocked.is_none() {
            return Err(answer::lacking("candidates", body));
        }

        let text: String = candidate
            .and_then(|candidate| json::at(candidate, "/content/parts"))
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|part| part["thought"] != true)
            .filter_map(|part| part["text"].as_str())
            .collect();

        let finish = match candidate {
            Some(candidate) if blocked.is_none() => {
                let word = candidate.get("finishReason").and_then(Value::as_str).unwrap_or("unknown");
                FinishReason::from_word(&word.to_ascii_lowercase())
            }
            Some(_) | None => FinishReason::ContentFilter,
        };
        Ok(ChatReply {
            model: json::text(body, "/modelVersion"),
            request_id: json::text(body, "/responseId"),
            ..ChatReply::new(text, finish)
        })
    }
}

/// Whether a model should keep its default temperature: according to Google's guide, Gemini 3 and later may loop at 0.
fn needs_its_temperature(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    family_version(name, "gemini-").is_some_and(|version| version >= 3.0)
}

/// The request body. The order of the fields is the order on the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    contents: Vec<GeminiContent<'a>>,
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: [GeminiPart<'a>; 1],
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    role: &'static str,
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum GeminiPart<'a> {
    Text(Cow<'a, str>),
    #[serde(rename_all = "camelCase")]
    InlineData {
        mime_type: &'a str,
        data: &'a str,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u8>,
}

fn content(message: &ChatMessage) -> GeminiContent<'_> {
    let role = if message.role == MessageRole::Assistant { "model" } else { "user" };
    let parts = match outgoing::text_only(&message.content) {
        Some(text) => vec![GeminiPart::Text(text)],
        None => message
            .content
            .iter()
            .map(|part| match part {
                Part::Text(text) => GeminiPart::Text(Cow::Borrowed(text)),
                Part::Image { media_type, data } => GeminiPart::InlineData { mime_type: media_type, data },
            })
            .collect(),
    };
    GeminiContent { role, parts }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
