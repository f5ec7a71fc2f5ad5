//! Requests as received by the mock server.

use serde_json::Value;

/// A request to a model, as passed to a script.
#[derive(Debug, Clone, Default)]
pub struct MockRequest {
    /// The request's number in order of arrival, from 0.
    pub index: usize,
    /// Number of requests being answered, including this one.
    pub in_flight: usize,
    /// The path, without the query.
    pub path: String,
    /// The headers in the order received; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is not JSON.
    pub body: Value,
    /// Requested model; empty if none is named.
    pub model: String,
    /// The text of all system messages, joined by line breaks.
    pub system_text: String,
    /// The text of the last user message.
    pub last_user_text: String,
}

impl MockRequest {
    /// Returns a header's first value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the limit on the reply's tokens, under any name that a format uses.
    pub fn output_limit(&self) -> Option<u64> {
        const NAMES: [&str; 6] = [
            "/max_completion_tokens", "/max_tokens", "/max_output_tokens",
            "/generationConfig/maxOutputTokens", "/inferenceConfig/maxTokens", "/options/num_predict",
        ];
        NAMES.iter().find_map(|name| self.body.pointer(name)?.as_u64())
    }
}

/// A request as received, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The path, without the query.
    pub path: String,
    /// The method, and the path with its query.
    pub line: String,
    /// The headers in the order received; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl RecordedRequest {
    /// Returns a header's first value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Parses the body as JSON.
    ///
    /// # Panics
    /// If it is not JSON, which fails the test.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the request body is JSON")
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}
