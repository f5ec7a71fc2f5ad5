//! Moderation and classification of texts, from the server's side.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat};
use crate::mock::incoming::MockRequest;

/// Part of the paths of Hugging Face's classifiers, followed by the model.
const CLASSIFIERS: &str = "/hf-inference/models/";

pub(super) struct MockLabels;

impl MockWireFormat for MockLabels {
    fn claims(&self, path: &str) -> bool {
        path.ends_with("/moderations") || path.contains(CLASSIFIERS) && !path.contains("/pipeline/")
    }

    fn read(&self, incoming: &mut MockRequest) {
        let model = incoming.path.split_once(CLASSIFIERS).map(|(_, model)| model);
        let named = incoming.body["model"].as_str().or(model).unwrap_or_default().to_owned();
        let text = incoming.body["input"].as_str().or_else(|| incoming.body["inputs"].as_str());
        let text = text.unwrap_or_default().to_owned();
        incoming.model = named;
        incoming.last_user_text = text;
    }

    /// The scripted text is the whole reply as JSON.
    fn answer(&self, _: &MockRequest, reply: &MockModelOutput) -> Value {
        serde_json::from_str(&reply.text).unwrap_or_default()
    }

    fn error(&self, code: &str, message: &str) -> Value {
        json!({"error": {"message": message, "code": code}})
    }
}
