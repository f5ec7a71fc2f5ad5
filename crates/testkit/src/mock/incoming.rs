//! A request as the mock server saw it.

use serde_json::Value;

/// One request to a model, as a script sees it.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The request's number in order of arrival, from 0.
    pub index: usize,
    /// Requests that are being answered now, this one included.
    pub in_flight: usize,
    /// The path, without the query.
    pub path: String,
    /// The headers in the order received; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is not JSON.
    pub body: Value,
    /// The model asked for; empty when none is named.
    pub model: String,
    /// The text of all system messages, joined by line breaks.
    pub system_text: String,
    /// The text of the last user message.
    pub last_user_text: String,
}

impl Incoming {
    /// A header's first value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The limit for the tokens of the reply, by whatever name the format has for it.
    pub fn output_limit(&self) -> Option<u64> {
        const NAMES: [&str; 6] = [
            "/max_completion_tokens",
            "/max_tokens",
            "/max_output_tokens",
            "/generationConfig/maxOutputTokens",
            "/inferenceConfig/maxTokens",
            "/options/num_predict",
        ];
        NAMES.iter().find_map(|name| self.body.pointer(name)?.as_u64())
    }
}

/// One request as received, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The path, without the query.
    pub path: String,
    /// The headers in the order received; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Recorded {
    /// A header's first value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not JSON, which fails the test.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the request body is JSON")
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}
