//! OpenAI's embeddings format from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, count_tokens};
use crate::mock::incoming::MockRequest;

pub(super) struct MockOpenAiEmbeddings;

impl MockWireFormat for MockOpenAiEmbeddings {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/embeddings")
    }

    fn read(&self, incoming: &mut MockRequest) {
        incoming.model = incoming.body["model"].as_str().unwrap_or_default().to_owned();
        incoming.last_user_text = incoming.body["input"].as_str().unwrap_or_default().to_owned();
    }

    /// The vector is the scripted text, a list in JSON.
    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let vector: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        let (input, _) = count_tokens(incoming, reply);
        json!({
            "object": "list",
            "model": incoming.model,
            "data": [{"object": "embedding", "index": 0, "embedding": vector}],
            "usage": {"prompt_tokens": input, "total_tokens": input},
        })
    }
}
