//! Replies of the mock server.

use std::time::Duration;

use serde_json::Value;

/// A scripted reply, good or faulty. Texts are wrapped in the wire format of the request.
#[derive(Debug, Clone, PartialEq)]
pub enum MockReply {
    /// The model writes this text and stops.
    Text(String),
    /// The model writes this JSON, compactly, and stops.
    Json(Value),
    /// The model writes these tokens and stops. Their probabilities are part of the reply if the format has a
    /// place for them and the request asked.
    Tokens(Vec<MockToken>),
    /// The model refuses with this text.
    Refusal(String),
    /// The model writes `text` and finishes for `reason`: `length` or `content_filter`, which is translated
    /// for every format, or a word of the format itself.
    Finish {
        /// The finish reason.
        reason: String,
        /// The text so far.
        text: String,
    },
    /// This status, these headers and this body, exactly.
    Status {
        /// The status code.
        code: u16,
        /// Headers beyond the content type, which is JSON when the body is and HTML otherwise.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// Status 429 in the format's shape, with a `retry-after` header in whole seconds if given.
    RateLimited {
        /// The wait to ask for.
        retry_after: Option<Duration>,
    },
    /// The connection is reset before anything is answered.
    Reset,
    /// The answer with this text, declared in full, but the connection closes after half of it.
    Truncated(String),
    /// The answer with this text, in several pieces with a pause before each.
    Drip {
        /// The text.
        text: String,
        /// The number of pieces, at least 1.
        pieces: usize,
        /// The pause before each piece.
        pause: Duration,
    },
    /// No answer until the server is dropped.
    Hang,
    /// Status 200 with this body, unchanged.
    Raw(String),
    /// Another reply after a delay.
    After(Duration, Box<MockReply>),
}

/// One token of the model's text.
#[derive(Debug, Clone, PartialEq)]
pub struct MockToken {
    /// Text of the token.
    pub text: String,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// Most probable tokens at its position with their logprobs, including itself if it is one of them.
    pub alternatives: Vec<(String, f64)>,
}

impl MockToken {
    /// Creates a token with probability 1.
    pub fn certain(text: impl Into<String>) -> Self {
        Self { text: text.into(), logprob: 0.0, alternatives: Vec::new() }
    }

    /// Creates the first of these tokens, with their probabilities (greater than 0, at most 1).
    ///
    /// # Panics
    /// If the list is empty.
    pub fn chosen(candidates: &[(&str, f64)]) -> Self {
        let alternatives: Vec<(String, f64)> =
            candidates.iter().map(|(text, probability)| ((*text).to_owned(), probability.ln())).collect();
        let (text, logprob) = alternatives.first().cloned().expect("a token is chosen from something");
        Self { text, logprob, alternatives }
    }
}

impl MockReply {
    /// Creates a reply with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a status with a body and no further headers.
    pub fn status(code: u16, body: impl Into<String>) -> Self {
        Self::Status { code, headers: Vec::new(), body: body.into() }
    }

    /// Creates a reply that finishes for this reason after this text.
    pub fn finish(reason: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Finish { reason: reason.into(), text: text.into() }
    }

    /// Creates status 400 in the shape in which servers reject an unknown parameter.
    pub fn unsupported(parameter: &str) -> Self {
        let message = format!("Unsupported parameter: '{parameter}' is not supported with this model.");
        let body = serde_json::json!({"error": {
            "message": message, "type": "invalid_request_error", "param": parameter, "code": "unsupported_parameter",
        }});
        Self::status(400, body.to_string())
    }

    /// Delays the reply.
    pub fn after(self, delay: Duration) -> Self {
        Self::After(delay, Box::new(self))
    }
}
