//! Embedding APIs other than OpenAI's, from the server's side, distinguished by their paths.

use serde_json::{Value, json};

use super::format::{MockModelOutput, MockWireFormat, count_tokens};
use crate::mock::incoming::MockRequest;

/// End of the path, position of the text in the request, and the reply with a vector and a number of tokens.
type Interface = (&'static str, &'static str, fn(&Value, u64) -> Value);

const INTERFACES: [Interface; 6] = [
    (
        ":embedContent",
        "/content/parts/0/text",
        |vector, tokens| json!({"embedding": {"values": vector}, "usageMetadata": {"promptTokenCount": tokens}}),
    ),
    (
        ":predict",
        "/instances/0/content",
        |vector, tokens| json!({"predictions": [{"embeddings": {"values": vector, "statistics": {"token_count": tokens}}}]}),
    ),
    ("/invoke", "/inputText", |vector, tokens| json!({"embedding": vector, "inputTextTokenCount": tokens})),
    (
        "/embed",
        "/texts/0",
        |vector, tokens| json!({"embeddings": {"float": [vector]}, "meta": {"billed_units": {"input_tokens": tokens}}}),
    ),
    ("/feature-extraction", "/inputs", |vector, _| vector.clone()),
    (
        "/voyage/embeddings",
        "/input/0",
        |vector, tokens| json!({"data": [{"embedding": vector}], "usage": {"total_tokens": tokens}}),
    ),
];

fn interface(path: &str) -> Option<&'static Interface> {
    INTERFACES.iter().find(|(end, ..)| path.ends_with(end))
}

pub(super) struct MockOtherEmbeddings;

impl MockWireFormat for MockOtherEmbeddings {
    fn claims(&self, path: &str) -> bool {
        interface(path).is_some()
    }

    fn read(&self, incoming: &mut MockRequest) {
        let Some((_, place, _)) = interface(&incoming.path) else { return };
        incoming.model = incoming.body["model"].as_str().unwrap_or_default().to_owned();
        let text = incoming.body.pointer(place).and_then(Value::as_str);
        incoming.last_user_text = text.unwrap_or_default().to_owned();
    }

    /// The vector is the scripted text, a list in JSON.
    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value {
        let vector: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        let (input, _) = count_tokens(incoming, reply);
        interface(&incoming.path).map(|(.., answer)| answer(&vector, input)).unwrap_or_default()
    }

    fn error(&self, code: &str, message: &str) -> Value {
        json!({"error": {"message": message, "code": code}})
    }
}
