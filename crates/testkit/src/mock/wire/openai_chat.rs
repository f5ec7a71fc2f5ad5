//! OpenAI's chat completions API, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, count_tokens, logprobs};
use crate::mock::incoming::MockRequest;

pub(super) struct MockOpenAiChat;

impl MockWireFormat for MockOpenAiChat {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let content = if reply.refusal.is_some() { Value::Null } else { reply.text.clone().into() };
        let (input, output) = count_tokens(incoming, reply);
        let wants_logprobs = incoming.body["logprobs"] == true && !reply.tokens.is_empty();
        let logprobs = if wants_logprobs { json!({"content": logprobs(&reply.tokens)}) } else { Value::Null };

        json!({
            "id": format!("chatcmpl-mock-{}", incoming.index),
            "object": "chat.completion",
            "created": 0,
            "model": incoming.model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": reply.refusal},
                "logprobs": logprobs,
                "finish_reason": reply.finish.as_deref().unwrap_or("stop"),
            }],
            "usage": {
                "prompt_tokens": input,
                "completion_tokens": output,
                "total_tokens": input + output,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
        })
    }
}
