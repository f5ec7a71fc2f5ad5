//! The proxy's interface for programs of the `tests` format: one text at a time, or several.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::handler::ProxyHandler;
use super::refusal::ProxyRefusal;
use crate::reply::ChatReply;
use crate::request::{ChatMessage, ChatRequest};

/// Name of the model, calls made, and calls allowed.
pub(super) fn info(handler: &ProxyHandler) -> Value {
    json!({
        "targetName": handler.setup.name,
        "maxCalls": handler.setup.max_calls,
        "callCount": handler.calls(),
        "availableTargets": [handler.setup.name],
        // The same under the names that AgentV's newest libraries use.
        "providerLabel": handler.setup.name,
        "availableProviderLabels": [handler.setup.name],
    })
}

/// `{question, systemPrompt?}`.
pub(super) async fn one(handler: &ProxyHandler, body: &Value) -> Result<Value, ProxyRefusal> {
    let request = request(handler, body)?;
    handler.take(1).map_err(ProxyRefusal::too_often)?;
    Ok(answer(&handler.ask(&request).await?))
}

/// `{requests: [...]}`: answers in the order of the questions. A question without an answer has an `error` and no text,
/// so that the error can't be mistaken for an answer.
pub(super) async fn batch(handler: &ProxyHandler, body: &Value) -> Result<Value, ProxyRefusal> {
    let Some(list) = body.get("requests").and_then(Value::as_array) else {
        return Err(ProxyRefusal::bad("`requests` must be a list of questions"));
    };
    let requests: Vec<ChatRequest> = list
        .iter()
        .enumerate()
        .map(|(index, body)| {
            request(handler, body).map_err(|refusal| ProxyRefusal {
                message: format!("request {}: {}", index + 1, refusal.message),
                ..refusal
            })
        })
        .collect::<Result<_, _>>()?;

    let count = u32::try_from(requests.len()).unwrap_or(u32::MAX);
    handler.take(count).map_err(ProxyRefusal::too_often)?;

    let replies = join_all(requests.iter().map(|request| handler.ask(request))).await;
    let responses: Vec<Value> = replies
        .into_iter()
        .map(|reply| match reply {
            Ok(reply) => answer(&reply),
            Err(error) => json!({ "output": [], "outputMessages": [], "error": error.to_string() }),
        })
        .collect();
    Ok(json!({ "responses": responses }))
}

fn request(handler: &ProxyHandler, body: &Value) -> Result<ChatRequest, ProxyRefusal> {
    let text = |keys: &[&str]| -> Result<Option<String>, ProxyRefusal> {
        match keys.iter().find_map(|key| body.get(key)).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(ProxyRefusal::bad(format!("`{}` must be a text", keys[0]))),
        }
    };

    let question = text(&["question"])?.filter(|question| !question.trim().is_empty());
    let Some(question) = question else {
        return Err(ProxyRefusal::bad("`question` is missing: the text to ask the model"));
    };

    if let Some(target) = text(&["target", "provider"])?.filter(|target| *target != handler.setup.name) {
        let message =
            format!("`{target}` can't be called here; this program may call `{}`", handler.setup.name);
        return Err(ProxyRefusal::bad(message));
    }

    let mut messages = Vec::new();
    messages.extend(text(&["systemPrompt", "system_prompt"])?.map(ChatMessage::system));
    messages.push(ChatMessage::user(question));

    Ok(ChatRequest { cache_prefix: false, ..ChatRequest::new(messages) })
}

fn answer(reply: &ChatReply) -> Value {
    let text = match &reply.refusal {
        Some(refusal) if reply.text.is_empty() => refusal,
        _ => &reply.text,
    };
    let messages = json!([{ "role": "assistant", "content": text }]);
    let usage = reply.usage;
    let mut value = json!({ "output": messages, "outputMessages": messages, "rawText": text });
    if !usage.is_unknown() {
        value["tokenUsage"] = json!({ "input": usage.input, "output": usage.output, "cached": usage.cached });
    }

    value
}
