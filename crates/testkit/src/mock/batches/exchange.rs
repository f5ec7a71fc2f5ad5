//! A request to a batch API, and its reply.

use std::time::Duration;

use serde_json::{Value, json};

/// Request to a batch API.
pub(in crate::mock) struct BatchCall<'a> {
    pub(in crate::mock) is_post: bool,
    pub(in crate::mock) is_put: bool,
    pub(in crate::mock) path: &'a str,
    pub(in crate::mock) query: &'a str,
    /// Headers with names in lower case.
    pub(in crate::mock) headers: &'a [(String, String)],
    pub(in crate::mock) body: &'a [u8],
    /// The model: takes path and body of a request, returns status and body of its reply.
    pub(in crate::mock) model: &'a dyn Fn(&str, &Value) -> (u16, String),
}

/// Reply of a batch API.
pub(in crate::mock) struct BatchAnswer {
    pub(in crate::mock) status: u16,
    pub(in crate::mock) body: String,
    pub(in crate::mock) delay: Duration,
    /// True if the connection breaks instead of a reply.
    pub(in crate::mock) is_lost: bool,
}

impl BatchAnswer {
    pub(super) fn json(value: &Value) -> Self {
        Self::new(200, value.to_string())
    }

    pub(super) fn new(status: u16, body: String) -> Self {
        Self { status, body, delay: Duration::ZERO, is_lost: false }
    }

    pub(super) fn error(status: u16, kind: &str, message: &str) -> Self {
        Self::new(status, json!({"error": {"type": kind, "code": kind, "message": message}}).to_string())
    }
}

/// Lines as the text of a file.
pub(super) fn text_of<'a>(lines: impl Iterator<Item = &'a Value>) -> String {
    lines.fold(String::new(), |text, line| text + &line.to_string() + "\n")
}
