//! Model lists, and OpenRouter's key information, from the server's side: requests that check whether a key
//! is accepted.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat};
use crate::mock::incoming::MockRequest;

/// Paths of these requests.
const PATHS: [&str; 3] = ["/models", "/api/tags", "/key"];

pub(super) struct MockModelList;

impl MockWireFormat for MockModelList {
    fn claims(&self, path: &str) -> bool {
        PATHS.iter().any(|end| path.ends_with(end))
    }

    fn read(&self, _: &mut MockRequest) {}

    /// Lists one model, whose name is the scripted text.
    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        match incoming.path.rsplit('/').next() {
            Some("tags") => json!({"models": [{"name": reply.text, "model": reply.text}]}),
            Some("key") => json!({"data": {"label": reply.text, "usage": 0}}),
            _ => json!({"object": "list", "data": [{"id": reply.text, "object": "model"}]}),
        }
    }
}
