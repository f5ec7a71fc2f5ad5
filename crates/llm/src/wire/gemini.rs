//! Google's generateContent format, as the Gemini API speaks it. The key travels in a header, never in the address.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::answer;
use super::format::{HttpCall, KeyHeader, WireCodec};
use super::{json, outgoing, refusal};
use crate::error::AskError;
use crate::output_limit::family_version;
use crate::quirks::{LimitField, SchemaSupport, SentFeatures, ServerQuirks};
use crate::reply::{ChatReply, FinishReason};
use crate::request::{ChatMessage, ChatRequest, MessageRole, Part};
use crate::token_counts::TokenCounts;
use crate::transport::HttpAnswer;

const LIMIT: &str = "maxoutputtokens";

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct GeminiGenerate;

impl WireCodec for GeminiGenerate {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader { name: "x-goog-api-key", prefix: "" }
    }

    fn encode(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        outgoing::check(request)?;
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
            system_instruction: SystemInstruction::from_text(system),
            contents: others.into_iter().map(content).collect(),
            generation_config: config,
        };

        let path = match request.model.strip_prefix("models/").unwrap_or(&request.model) {
            tuned if tuned.starts_with("tunedModels/") => format!("/{tuned}:generateContent"),
            model => format!("/models/{}:generateContent", outgoing::segment(model)),
        };
        outgoing::post(path, &body)
    }

    fn decode(&self, answer: &HttpAnswer) -> Result<ChatReply, AskError> {
        let body = answer::body(answer)?;
        let usage = usage(&body);
        answer::refuse_named_error(answer, &body, usage)?;
        let blocked = json::text(&body, "/promptFeedback/blockReason");
        let candidate = json::at(&body, "/candidates/0");
        if candidate.is_none() && blocked.is_none() {
            return Err(answer::without_reply(answer, &body, "candidates", usage));
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
            Some(candidate) if blocked.is_none() => finish(candidate.get("finishReason")),
            Some(_) | None => FinishReason::ContentFilter,
        };
        let reply = ChatReply {
            usage,
            model: json::text(&body, "/modelVersion"),
            request_id: json::text(&body, "/responseId"),
            ..ChatReply::new(text, finish)
        };
        Ok(answer::complete(answer, reply))
    }

    fn learn(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        let sent = SentFeatures {
            seed: (request.seed.is_some() && !quirks.no_seed).then_some("seed"),
            logprobs: quirks.alternatives(request.logprobs),
            limit: request.output_limit().filter(|_| quirks.limit == LimitField::Usual).map(|_| LIMIT),
            ..SentFeatures::new(request, quirks)
        };
        refusal::learn(answer, quirks, SchemaSupport::Lengthless, sent)
    }
}

/// Whether a model should keep its own temperature: Gemini 3 and later repeat themselves at 0, says Google's guide.
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

impl SystemInstruction<'_> {
    fn from_text(text: String) -> Option<Self> {
        if text.is_empty() { None } else { Some(Self { parts: [GeminiPart::Text(Cow::Owned(text))] }) }
    }
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

fn finish(reason: Option<&Value>) -> FinishReason {
    match reason.and_then(Value::as_str).unwrap_or("unknown") {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        other => FinishReason::from_word(&other.to_ascii_lowercase()),
    }
}

/// Hidden reasoning is counted separately from visible tokens.
fn usage(body: &Value) -> TokenCounts {
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

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
