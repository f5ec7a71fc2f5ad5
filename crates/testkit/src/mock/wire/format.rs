//! What the mock must know of a wire format.

use serde_json::Value;

use crate::mock::incoming::Incoming;

/// A wire format seen from the server's side.
pub(in crate::mock) trait WireFormat: Sync {
    /// Whether requests at this path are in this format.
    fn claims(&self, path: &str) -> bool;

    /// Fills in `model`, `system_text` and `last_user_text` from `body`.
    fn read(&self, incoming: &mut Incoming);

    /// The body of a good answer.
    fn answer(&self, incoming: &Incoming, said: &Said) -> Value;

    /// The body of an error.
    fn error(&self, code: &str, message: &str) -> Value;
}

/// What the model says.
#[derive(Debug, Clone, Default)]
pub(in crate::mock) struct Said {
    pub(in crate::mock) text: String,
    pub(in crate::mock) refusal: Option<String>,
    /// The finish reason in the format's words; `None` for a natural end.
    pub(in crate::mock) finish: Option<String>,
}

/// A stand-in for a tokenizer: a quarter of the bytes, at least one.
pub(super) fn tokens(text_bytes: usize) -> u64 {
    (text_bytes as u64 / 4).max(1)
}
