//! Chat completions, the interface that most client libraries use.

use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::handler::ProxyHandler;
use super::refusal::ProxyRefusal;
use crate::reply::ChatReply;
use crate::request::{ChatMessage, ChatRequest, JsonSchemaFormat, MessageRole, Part};

/// Parameters that change the form of the reply into one that the proxy does not support. Other unknown
/// settings are ignored, as servers do.
const NOT_OFFERED: [&str; 6] = ["tools", "functions", "logprobs", "top_logprobs", "audio", "modalities"];

/// The list of models, which has one entry.
pub(super) fn models(handler: &ProxyHandler) -> Value {
    json!({ "object": "list", "data": [{ "id": handler.setup.name, "object": "model", "created": 0, "owned_by": "assize" }] })
}

/// A refusal in the form of this interface.
pub(super) fn error(refusal: &ProxyRefusal) -> Value {
    let kind = match refusal.status {
        StatusCode::TOO_MANY_REQUESTS => "insufficient_quota",
        StatusCode::UNAUTHORIZED => "authentication_error",
        status if status.is_client_error() => "invalid_request_error",
        _ => "server_error",
    };
    json!({ "error": { "message": refusal.message, "type": kind, "param": null, "code": kind } })
}

/// Answers a chat. Whatever model the request names, the lent one answers, and the reply names it.
pub(super) async fn chat(handler: &ProxyHandler, body: &Value) -> Result<Value, ProxyRefusal> {
    let request = request(body)?;
    handler.take(1).map_err(ProxyRefusal::too_often)?;
    let reply = handler.ask(&request).await?;
    Ok(completion(handler, &reply))
}

fn request(body: &Value) -> Result<ChatRequest, ProxyRefusal> {
    if !body.is_object() {
        return Err(ProxyRefusal::bad("a request for a chat completion is an object with `messages`"));
    }

    let set = |key: &str| body.get(key).filter(|value| !value.is_null());
    if set("stream").is_some_and(|stream| stream != &Value::Bool(false)) {
        return Err(ProxyRefusal::bad("streams are not offered here; leave out `stream`"));
    }
    if set("n").is_some_and(|n| n.as_u64() != Some(1)) {
        return Err(ProxyRefusal::bad("one choice is given at a time; leave out `n` and ask again"));
    }

    let is_asked_for = |key: &&str| set(key).is_some_and(|value| value != &Value::Bool(false));
    if let Some(key) = NOT_OFFERED.into_iter().find(is_asked_for) {
        return Err(ProxyRefusal::bad(format!("`{key}` is not offered here")));
    }

    let number = |key: &str| match set(key) {
        None => Ok(None),
        Some(value) => {
            value.as_f64().map(Some).ok_or_else(|| ProxyRefusal::bad(format!("`{key}` must be a number")))
        }
    };

    let whole = |key: &str| match set(key) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| ProxyRefusal::bad(format!("`{key}` must be a whole number, not negative"))),
    };

    let limit = match whole("max_completion_tokens")? {
        None => whole("max_tokens")?,
        limit => limit,
    };
    let messages = body.get("messages").and_then(Value::as_array).filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| ProxyRefusal::bad("`messages` must be a list of messages"))?;
    Ok(ChatRequest {
        schema: set("response_format").map(schema).transpose()?.flatten(),
        temperature: number("temperature")?,
        reasoning_effort: match set("reasoning_effort") {
            None => None,
            Some(Value::String(effort)) => Some(effort.clone()),
            Some(_) => return Err(ProxyRefusal::bad("`reasoning_effort` must be a text")),
        },
        seed: whole("seed")?,
        max_output_tokens: limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX)),
        cache_prefix: false,
        ..ChatRequest::new(messages.iter().enumerate().map(message).collect::<Result<Vec<_>, _>>()?)
    })
}

fn message((index, message): (usize, &Value)) -> Result<ChatMessage, ProxyRefusal> {
    let wrong = |what: &str| ProxyRefusal::bad(format!("message {}: {what}", index + 1));
    let role = match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => MessageRole::System,
        Some("user") => MessageRole::User,
        Some("assistant") => MessageRole::Assistant,
        _ => return Err(wrong("`role` must be system, developer, user or assistant")),
    };

    let content = match message.get("content") {
        Some(Value::String(text)) => Arc::from([Part::Text(text.as_str().into())]),
        Some(Value::Array(parts)) => parts
            .iter()
            .map(|part| {
                self::part(part).ok_or_else(|| wrong("a part must be a text, or a picture as a data URL"))
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong("`content` must be a text or a list of parts")),
    };
    Ok(ChatMessage { role, content })
}

fn part(part: &Value) -> Option<Part> {
    match part.get("type")?.as_str()? {
        "text" => Some(Part::Text(part.get("text")?.as_str()?.into())),
        "image_url" => {
            let url = part.get("image_url")?.get("url")?.as_str()?;
            let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
            Some(Part::Image { media_type: media_type.to_owned(), data: data.to_owned() })
        }
        _ => None,
    }
}

fn schema(format: &Value) -> Result<Option<JsonSchemaFormat>, ProxyRefusal> {
    let inner = format.get("json_schema");
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(JsonSchemaFormat {
            name: "object".into(),
            schema: json!({ "type": "object" }).into(),
            strict: false,
        })),
        Some("json_schema") => {
            let inner = inner.ok_or_else(|| ProxyRefusal::bad("`response_format` has no `json_schema`"))?;
            let name = inner.get("name").and_then(Value::as_str).unwrap_or("reply").to_owned();
            let schema = inner.get("schema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
            let strict = inner.get("strict").and_then(Value::as_bool).unwrap_or(false);
            Ok(Some(JsonSchemaFormat { name: name.into(), schema: schema.into(), strict }))
        }
        _ => Err(ProxyRefusal::bad("`response_format` must have the type text, json_object or json_schema")),
    }
}

fn completion(handler: &ProxyHandler, reply: &ChatReply) -> Value {
    let refused = reply.refusal.is_some() && reply.text.is_empty();
    let mut value = json!({
        "id": reply.request_id.as_deref().unwrap_or("assize"),
        "object": "chat.completion",
        "created": 0,
        "model": reply.model.as_deref().unwrap_or(&handler.setup.name),
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": (!refused).then_some(&reply.text),
                "refusal": reply.refusal,
            },
            "finish_reason": reply.finish.openai_word().unwrap_or("unknown"),
            "logprobs": null,
        }],
    });
    if let (Some(input), Some(output)) = (reply.usage.input, reply.usage.output) {
        value["usage"] = json!({
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input.saturating_add(output),
        });
    }

    value
}
