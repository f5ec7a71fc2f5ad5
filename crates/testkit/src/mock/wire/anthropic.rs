//! Anthropic's Messages API, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, content_text, count_tokens, read_messages};
use crate::mock::incoming::MockRequest;

pub(super) struct MockAnthropic;

impl MockWireFormat for MockAnthropic {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/messages")
    }

    fn read(&self, incoming: &mut MockRequest) {
        incoming.model = incoming.body["model"].as_str().unwrap_or_default().to_owned();
        read_messages(incoming, "messages", "content");
        incoming.system_text = content_text(&incoming.body["system"]);
    }

    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let (input, output) = count_tokens(incoming, reply);
        let text = reply.refusal.as_ref().unwrap_or(&reply.text);
        let called = incoming.body["tool_choice"]["name"].as_str();
        let input_of_tool = called.and_then(|_| serde_json::from_str::<Value>(text).ok());
        let block = match (called, input_of_tool) {
            // A model that must call a tool writes its text as the tool's input, if possible.
            (Some(name), Some(input)) if input.is_object() => {
                json!({"type": "tool_use", "id": "toolu-mock", "name": name, "input": input})
            }
            _ => json!({"type": "text", "text": text}),
        };

        let natural = if block["type"] == "tool_use" { "tool_use" } else { "end_turn" };
        let reason = match reply.finish.as_deref() {
            _ if reply.refusal.is_some() => "refusal",
            None | Some("stop") => natural,
            Some("length") => "max_tokens",
            Some("content_filter") => "refusal",
            Some(other) => other,
        };

        let content = if text.is_empty() { json!([]) } else { json!([block]) };
        json!({
            "id": format!("msg-mock-{}", incoming.index),
            "type": "message",
            "role": "assistant",
            "model": incoming.model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": null,
            "usage": {
                "input_tokens": input,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": output,
            },
        })
    }

    fn error(&self, code: &str, message: &str) -> Value {
        let kind = if code == "rate_limit_exceeded" { "rate_limit_error" } else { code };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req-mock"})
    }
}
