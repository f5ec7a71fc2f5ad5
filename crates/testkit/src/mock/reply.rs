//! What the mock server can do with a request.

use std::time::Duration;

use serde_json::Value;

/// One scripted answer, good or faulty. Texts are wrapped in the wire format of the request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The model says this and stops.
    Text(String),
    /// The model says this JSON, written compactly, and stops.
    Json(Value),
    /// The model says these tokens and stops. How likely they were is part of the answer where the format has a place
    /// for it and the request asked.
    Tokens(Vec<Token>),
    /// The model declines in these words.
    Refusal(String),
    /// The model says `text` and ends for `reason`: `length` or `content_filter`, which every format says in its own
    /// words, or a word of the format itself.
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
    /// The answer with this text, declared in full, of which only half arrives before the connection closes.
    Truncated(String),
    /// The answer with this text, in so many pieces with a pause before each.
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
    /// Status 200 and this body, whatever it is.
    Raw(String),
    /// Another reply after a delay.
    After(Duration, Box<Reply>),
}

/// One token of what the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Its text.
    pub text: String,
    /// The natural logarithm of its probability.
    pub logprob: f64,
    /// The likeliest tokens at its place with the logarithms of their probabilities, itself included if it is one.
    pub alternatives: Vec<(String, f64)>,
}

impl Token {
    /// A token that could not have been another.
    pub fn certain(text: impl Into<String>) -> Self {
        Self { text: text.into(), logprob: 0.0, alternatives: Vec::new() }
    }

    /// A token chosen from these, the first, with their probabilities (greater than 0, at most 1).
    ///
    /// # Panics
    /// When there is nothing to choose from.
    pub fn chosen(candidates: &[(&str, f64)]) -> Self {
        let alternatives: Vec<(String, f64)> =
            candidates.iter().map(|(text, probability)| ((*text).to_owned(), probability.ln())).collect();
        let (text, logprob) = alternatives.first().cloned().expect("a token is chosen from something");
        Self { text, logprob, alternatives }
    }
}

impl Reply {
    /// What the model says.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A status with a body and no further headers.
    pub fn status(code: u16, body: impl Into<String>) -> Self {
        Self::Status { code, headers: Vec::new(), body: body.into() }
    }

    /// An end for this reason after this text.
    pub fn finish(reason: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Finish { reason: reason.into(), text: text.into() }
    }

    /// Status 400 in the shape in which servers refuse a parameter they do not know.
    pub fn unsupported(parameter: &str) -> Self {
        let message = format!("Unsupported parameter: '{parameter}' is not supported with this model.");
        let body = serde_json::json!({"error": {
            "message": message, "type": "invalid_request_error", "param": parameter, "code": "unsupported_parameter",
        }});
        Self::status(400, body.to_string())
    }

    /// This reply after a delay.
    pub fn after(self, delay: Duration) -> Self {
        Self::After(delay, Box::new(self))
    }
}
