//! Amazon Bedrock's Converse API, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, content_text, count_tokens, read_messages};
use crate::mock::incoming::MockRequest;

pub(super) struct MockBedrock;

impl MockWireFormat for MockBedrock {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/converse")
    }

    fn read(&self, incoming: &mut MockRequest) {
        let path = incoming.path.trim_end_matches("/converse");
        path.rsplit("/model/").next().unwrap_or_default().clone_into(&mut incoming.model);
        read_messages(incoming, "messages", "content");
        incoming.system_text = content_text(&incoming.body["system"]);
    }

    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let (input, output) = count_tokens(incoming, reply);
        let text = reply.refusal.as_ref().unwrap_or(&reply.text);
        let called = incoming.body.pointer("/toolConfig/toolChoice/tool/name").and_then(Value::as_str);
        let input_of_tool = called.and_then(|_| serde_json::from_str::<Value>(text).ok());
        let (block, natural) = match (called, input_of_tool) {
            // A model that must call a tool writes its text as the tool's input, if possible: an object has
            // each member once.
            (Some(name), Some(input)) if input.is_object() && input.to_string().len() == text.len() => {
                (json!({"toolUse": {"toolUseId": "tool-mock", "name": name, "input": input}}), "tool_use")
            }
            _ => (json!({ "text": text }), "end_turn"),
        };

        let reason = match reply.finish.as_deref() {
            _ if reply.refusal.is_some() => "content_filtered",
            None | Some("stop") => natural,
            Some("length") => "max_tokens",
            Some("content_filter") => "content_filtered",
            Some(other) => other,
        };

        let content = if text.is_empty() { json!([]) } else { json!([block]) };
        json!({
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": reason,
            "usage": {"inputTokens": input, "outputTokens": output, "totalTokens": input + output},
            "metrics": {"latencyMs": 1},
        })
    }

    fn error(&self, _: &str, message: &str) -> Value {
        json!({ "message": message })
    }
}
