//! Ollama's chat API, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, count_tokens, logprobs};
use crate::mock::incoming::MockRequest;

pub(super) struct MockOllama;

impl MockWireFormat for MockOllama {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/api/chat")
    }

    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let (input, output) = count_tokens(incoming, reply);
        // The format has neither refusals nor filters: a refusal becomes the text.
        let text = reply.refusal.as_ref().unwrap_or(&reply.text);
        let mut answer = json!({
            "model": incoming.model,
            "created_at": "1970-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text},
            "done": true,
            "done_reason": reply.finish.as_deref().unwrap_or("stop"),
            "total_duration": 1,
            "prompt_eval_count": input,
            "eval_count": output,
        });
        if incoming.body["logprobs"] == true && !reply.tokens.is_empty() {
            answer["logprobs"] = logprobs(&reply.tokens);
        }

        answer
    }

    fn error(&self, _: &str, message: &str) -> Value {
        json!({ "error": message })
    }
}
