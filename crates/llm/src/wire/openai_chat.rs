//! OpenAI's chat completions format, which most other servers speak as well.

use assize_rubric::Usd;
use serde_json::value::RawValue;

use super::dialect::{ChatDialect, LogprobsField};
use super::outgoing::TextOrParts;
use super::prelude::*;
use crate::prompt_cache::marks_first_part;

/// The format, in one of its dialects.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiChat {
    dialect: ChatDialect,
    /// On Azure, whether the deployment, which the model names, is part of the path.
    azure: Option<bool>,
}

impl OpenAiChat {
    /// The format in this dialect.
    pub fn new(dialect: ChatDialect) -> Self {
        Self { dialect, azure: None }
    }

    /// The format as Azure serves it, with a separate header for the key. The API version is part of the address. The
    /// base URL ends in `/openai`, or in `/openai/v1` if deployments are not part of the path.
    pub fn azure(deployment_in_path: bool) -> Self {
        Self { dialect: ChatDialect::OPENAI, azure: Some(deployment_in_path) }
    }
}

impl WireCodec for OpenAiChat {
    fn name(&self) -> &'static str {
        if self.azure.is_some() { "azure-openai" } else { "openai-chat" }
    }

    fn key_header(&self) -> KeyHeader {
        match self.azure {
            Some(_) => KeyHeader { name: "api-key", prefix: "" },
            None => KeyHeader { name: "authorization", prefix: "Bearer " },
        }
    }

    fn features(&self) -> Option<FormatFeatures> {
        let ChatDialect { limit, other_limit, seed, schema, .. } = self.dialect;
        let limits = [Some(limit), Some(other_limit)];
        let cache_marks = &["prompt_cache_breakpoint"][..];
        Some(FormatFeatures { seed: Some(seed), logprobs: true, limits, schema, effort: true, cache_marks })
    }

    fn write(&self, request: &ChatRequest, quirks: ServerQuirks) -> Result<HttpCall, AskError> {
        let limit_name = self.features().and_then(|features| features.limit_name(quirks));
        let limit = |name| request.output_limit().filter(|_| limit_name == Some(name));
        let seed = |name| request.seed.filter(|_| !quirks.no_seed && self.dialect.seed == name);
        let logprobs = quirks.alternatives(request.logprobs);
        let body = ChatBody {
            model: &request.model,
            messages: messages(request, self.dialect == ChatDialect::OPENAI && !quirks.no_cache_mark),
            response_format: request.schema.as_ref().and_then(|schema| {
                ResponseFormat::from_format(schema, quirks.schema.max(self.dialect.schema))
            }),
            temperature: request.temperature.filter(|_| !quirks.no_temperature),
            reasoning_effort: request.reasoning_effort.as_deref(),
            seed: seed("seed"),
            random_seed: seed("random_seed"),
            max_tokens: limit("max_tokens"),
            max_completion_tokens: limit("max_completion_tokens"),
            logprobs: logprobs.map(|count| match self.dialect.logprobs {
                LogprobsField::Count => count.into(),
                LogprobsField::Flag | LogprobsField::Routed => true.into(),
            }),
            top_logprobs: logprobs.filter(|_| self.dialect.logprobs != LogprobsField::Count),
            provider: logprobs
                .filter(|_| self.dialect.logprobs == LogprobsField::Routed)
                // Restricts the servers that OpenRouter may choose from.
                .map(|_| json!({"require_parameters": true})),
        };

        let path = self.dialect.path;
        match self.azure {
            Some(true) => {
                outgoing::post(format!("/deployments/{}{path}", outgoing::segment(&request.model)), &body)
            }
            _ => outgoing::post(path, &body),
        }
    }

    fn usage(&self, body: &Value) -> TokenCounts {
        let count = |paths: [&str; 2]| paths.iter().find_map(|path| json::count(body, path));
        let input = count(["/usage/prompt_tokens", "/usage/input_tokens"]);
        let visible = count(["/usage/completion_tokens", "/usage/output_tokens"]);
        TokenCounts {
            input,
            cached: count(["/usage/prompt_tokens_details/cached_tokens", "/usage/prompt_cache_hit_tokens"]),
            output: written(input, visible, json::count(body, "/usage/total_tokens")),
        }
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let choice = json::at(body, "/choices/0").ok_or_else(|| answer::lacking("choices", body))?;
        let content = json::at(choice, "/message/content").or_else(|| choice.get("text"));
        let (text, refused_part) = content.map(read_content).unwrap_or_default();
        let finish = FinishReason::from_json(choice.get("finish_reason"));
        Ok(ChatReply {
            stated_cost: body.pointer("/usage/cost").and_then(Value::as_f64).and_then(Usd::from_dollars),
            refusal: json::at(choice, "/message/refusal").and_then(refusal_words).or(refused_part),
            model: json::text(body, "/model"),
            request_id: json::text(body, "/id"),
            ..ChatReply::new(text, finish)
        })
    }

    fn own_refusal(
        &self,
        request: &ChatRequest,
        answer: &HttpAnswer,
        quirks: ServerQuirks,
    ) -> Option<ServerQuirks> {
        let routed = self.dialect.logprobs == LogprobsField::Routed && request.logprobs.is_some();
        let is_about_logprobs = routed
            && answer.status == 404
            && json::server_error(&answer.body).message.contains("requested parameters");
        is_about_logprobs.then_some(ServerQuirks { no_logprobs: true, ..quirks })
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
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    random_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The number of alternatives, or true.
    logprobs: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Value>,
}

type WireMessage<'a> = RoleMessage<TextOrParts<'a, ContentPart<'a>>>;

impl<'a> From<&'a ChatMessage> for WireMessage<'a> {
    fn from(message: &'a ChatMessage) -> Self {
        let content = outgoing::text_only(&message.content).map_or_else(
            || TextOrParts::Parts(message.content.iter().map(ContentPart::from).collect()),
            TextOrParts::Text,
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
            *prompt_cache_breakpoint = Some(json!({"mode": "explicit"}));
            message.content = TextOrParts::Parts(parts);
        }
    }
    messages
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_cache_breakpoint: Option<Value>,
    },
    ImageUrl {
        image_url: Value,
    },
}

impl<'a> From<&'a Part> for ContentPart<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Text(text) => Self::Text { text, prompt_cache_breakpoint: None },
            Part::Image { media_type, data } => {
                Self::ImageUrl { image_url: json!({"url": format!("data:{media_type};base64,{data}")}) }
            }
        }
    }
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

/// Output tokens. Some servers, xAI's and Google's among them, count hidden reasoning only in the total.
fn written(input: Option<u64>, visible: Option<u64>, total: Option<u64>) -> Option<u64> {
    let all = total.zip(input).map(|(total, input)| total.saturating_sub(input));
    visible.map(|visible| visible.max(all.unwrap_or(0)))
}

#[cfg(test)]
#[path = "azure_tests.rs"]
mod azure_tests;
#[cfg(test)]
#[path = "openai_chat_tests.rs"]
mod tests;
