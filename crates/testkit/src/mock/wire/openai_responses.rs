//! OpenAI's Responses API, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, count_tokens, logprobs, read_messages};
use crate::mock::incoming::MockRequest;

pub(super) struct MockOpenAiResponses;

impl MockWireFormat for MockOpenAiResponses {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn read(&self, incoming: &mut MockRequest) {
        incoming.model = incoming.body["model"].as_str().unwrap_or_default().to_owned();
        read_messages(incoming, "input", "content");
    }

    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let (input, output) = count_tokens(incoming, reply);
        let mut part = match &reply.refusal {
            Some(words) => json!({"type": "refusal", "refusal": words}),
            None => json!({"type": "output_text", "text": reply.text, "annotations": []}),
        };
        if incoming.body["include"].is_array() && !reply.tokens.is_empty() {
            part["logprobs"] = logprobs(&reply.tokens);
        }

        let (status, details) = match reply.finish.as_deref() {
            None | Some("stop") => ("completed", Value::Null),
            Some("length") => ("incomplete", json!({"reason": "max_output_tokens"})),
            Some("content_filter") => ("incomplete", json!({"reason": "content_filter"})),
            Some(word) => (word, Value::Null),
        };
        json!({
            "id": format!("resp-mock-{}", incoming.index),
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": null,
            "incomplete_details": details,
            "model": incoming.model,
            "output": [{"type": "message", "id": "msg-mock", "role": "assistant", "status": status, "content": [part]}],
            "usage": {
                "input_tokens": input,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": input + output,
            },
        })
    }
}
