//! Interface of the wire formats.

use serde_json::{Value, json};

use crate::mock::incoming::MockRequest;
use crate::mock::reply::MockToken;

/// A wire format from the server's side.
pub(in crate::mock) trait MockWireFormat: Sync {
    /// Returns true if requests at this path are in this format.
    fn claims(&self, path: &str) -> bool;

    /// Fills in `model`, `system_text` and `last_user_text` from `body`.
    fn read(&self, incoming: &mut MockRequest) {
        incoming.model = incoming.body["model"].as_str().unwrap_or_default().to_owned();
        read_messages(incoming, "messages", "content");
    }

    /// Builds the body of a successful reply.
    fn answer(&self, incoming: &MockRequest, reply: &MockModelOutput) -> Value;

    /// Builds the body of an error; by default in OpenAI's form.
    fn error(&self, code: &str, message: &str) -> Value {
        json!({"error": {"message": message, "type": code, "param": null, "code": code}})
    }
}

/// Output of the model.
#[derive(Debug, Clone, Default)]
pub(in crate::mock) struct MockModelOutput {
    pub(in crate::mock) text: String,
    pub(in crate::mock) refusal: Option<String>,
    /// Finish reason: `length` or `content_filter`, which each format translates, or a word of the format
    /// itself; `None` for a natural end.
    pub(in crate::mock) finish: Option<String>,
    /// Tokens of `text`, if their probabilities are known.
    pub(in crate::mock) tokens: Vec<MockToken>,
}

/// Number of bytes per token.
const BYTES_PER_TOKEN: u64 = 4;

/// Counts tokens approximately: a quarter of the bytes, at least one.
pub(super) fn estimate_tokens(text_bytes: usize) -> u64 {
    (text_bytes as u64 / BYTES_PER_TOKEN).max(1)
}

impl MockModelOutput {
    /// Cuts the output at the request's limit.
    pub(in crate::mock) fn within_limit(mut self, incoming: &MockRequest) -> Self {
        let Some(limit) = incoming.output_limit() else { return self };
        let most = usize::try_from(limit.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
        if self.text.len() > most {
            self.text.truncate(self.text.floor_char_boundary(most));
            self.finish = Some("length".to_owned());
        }

        self
    }
}

/// Counts the input and output tokens of an exchange.
pub(in crate::mock) fn count_tokens(incoming: &MockRequest, reply: &MockModelOutput) -> (u64, u64) {
    let input = estimate_tokens(incoming.system_text.len() + incoming.last_user_text.len());
    let output = estimate_tokens(reply.text.len() + reply.refusal.as_ref().map_or(0, String::len));
    (input, output)
}

/// Returns the text of a message's content: a string, or a list of parts with a text each.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Fills in the texts from a list of messages with a role each: all system texts, and the last user text.
pub(super) fn read_messages(incoming: &mut MockRequest, messages: &str, content: &str) {
    let all = incoming.body[messages].as_array().map(Vec::as_slice).unwrap_or_default();
    let said_by = |roles: &'static [&'static str]| {
        all.iter()
            .filter(move |message| roles.iter().any(|role| message["role"] == *role))
            .map(|message| content_text(&message[content]))
    };
    let system = said_by(&["system", "developer"]).collect::<Vec<_>>().join("\n");
    let user = said_by(&["user"]).next_back().unwrap_or_default();

    incoming.system_text = system;
    incoming.last_user_text = user;
}

/// Formats token probabilities as OpenAI and Ollama do.
pub(super) fn logprobs(tokens: &[MockToken]) -> Value {
    let entry =
        |text: &str, logprob: f64| json!({"token": text, "logprob": logprob, "bytes": text.as_bytes()});
    tokens
        .iter()
        .map(|token| {
            let mut item = entry(&token.text, token.logprob);
            item["top_logprobs"] =
                token.alternatives.iter().map(|(text, logprob)| entry(text, *logprob)).collect();
            item
        })
        .collect()
}
