//! OpenAI's chat completions, seen from the server's side.

use serde_json::{Value, json};

use super::format::{Said, WireFormat, tokens};
use crate::mock::incoming::Incoming;

pub(super) struct OpenAiChat;

impl WireFormat for OpenAiChat {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn read(&self, incoming: &mut Incoming) {
        let body = &incoming.body;
        incoming.model = body["model"].as_str().unwrap_or_default().to_owned();
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let said_by = |roles: &'static [&'static str]| {
            messages
                .iter()
                .filter(move |m| roles.iter().any(|role| m["role"] == *role))
                .map(|m| text(&m["content"]))
        };
        let system = said_by(&["system", "developer"]).collect::<Vec<_>>().join("\n");
        let user = said_by(&["user"]).next_back().unwrap_or_default();
        incoming.system_text = system;
        incoming.last_user_text = user;
    }

    fn answer(&self, incoming: &Incoming, said: &Said) -> Value {
        let content = if said.refusal.is_some() { Value::Null } else { said.text.clone().into() };
        let input = tokens(incoming.system_text.len() + incoming.last_user_text.len());
        let output = tokens(said.text.len() + said.refusal.as_ref().map_or(0, String::len));
        json!({
            "id": format!("chatcmpl-mock-{}", incoming.index),
            "object": "chat.completion",
            "created": 0,
            "model": incoming.model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": said.refusal},
                "finish_reason": said.finish.as_deref().unwrap_or("stop"),
            }],
            "usage": {
                "prompt_tokens": input,
                "completion_tokens": output,
                "total_tokens": input + output,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
        })
    }

    fn error(&self, code: &str, message: &str) -> Value {
        json!({"error": {"message": message, "type": code, "param": null, "code": code}})
    }
}

/// The text of a message's content: a string or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
