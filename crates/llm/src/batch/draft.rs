//! A batch under construction: the bytes that will be sent.

use std::io::{self, Write as _};

use serde_json::json;
use serde_json::value::RawValue;

use super::format::BatchFormat;
use crate::batch_lines::BatchRequestLine;
use crate::call_key::CallKey;

/// The most bytes that the format adds to a request.
const FRAME_BYTES: usize = 256;

/// A batch under construction. Each request is named by the key of its call.
#[derive(Debug)]
pub struct BatchDraft {
    pub(super) format: BatchFormat,
    /// A unique name, to find the batch again.
    pub(super) token: String,
    pub(super) model: String,
    bytes: Vec<u8>,
    requests: usize,
}

impl BatchDraft {
    /// An empty batch for `model`. `token` is a name that no other batch has.
    pub fn new(format: BatchFormat, token: &str, model: &str) -> Self {
        let head = match format {
            BatchFormat::OpenAi(_) | BatchFormat::Bedrock => String::new(),
            BatchFormat::Anthropic => r#"{"requests":["#.to_owned(),
            BatchFormat::Gemini => {
                let name = json!(display_name(token));
                format!(r#"{{"batch":{{"display_name":{name},"input_config":{{"requests":{{"requests":["#)
            }
        };
        Self {
            format,
            token: token.to_owned(),
            model: model.to_owned(),
            bytes: head.into_bytes(),
            requests: 0,
        }
    }

    /// Whether a request of this many bytes still fits.
    pub fn has_room(&self, bytes: usize) -> bool {
        let limits = self.format.limits();
        self.requests < limits.requests
            && (self.requests == 0 || self.bytes.len() + bytes + FRAME_BYTES <= limits.bytes)
    }

    /// Adds a request, whose body is JSON.
    ///
    /// # Errors
    /// If the body is not JSON.
    pub fn add(&mut self, key: CallKey, body: Vec<u8>) -> io::Result<()> {
        let body = String::from_utf8(body).map_err(io::Error::other)?;
        let body = RawValue::from_string(body)?;
        let separator: &[u8] = if self.requests == 0 { b"" } else { b"," };

        match self.format {
            BatchFormat::OpenAi(url) => {
                let line = BatchRequestLine { custom_id: key.to_string(), url: url.to_owned(), body };
                line.write_to(&mut self.bytes)?;
            }
            BatchFormat::Anthropic => {
                self.bytes.extend_from_slice(separator);
                write!(self.bytes, r#"{{"custom_id":"{key}","params":{body}}}"#)?;
            }
            BatchFormat::Gemini => {
                self.bytes.extend_from_slice(separator);
                write!(self.bytes, r#"{{"request":{body},"metadata":{{"key":"{key}"}}}}"#)?;
            }
            BatchFormat::Bedrock => {
                writeln!(self.bytes, r#"{{"recordId":"{key}","modelInput":{body}}}"#)?;
            }
        }

        self.requests += 1;
        Ok(())
    }

    /// The number of requests.
    pub fn len(&self) -> usize {
        self.requests
    }

    /// Whether it has no requests.
    pub fn is_empty(&self) -> bool {
        self.requests == 0
    }

    /// Everything that is sent.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let tail = match self.format {
            BatchFormat::OpenAi(_) | BatchFormat::Bedrock => "",
            BatchFormat::Anthropic => "]}",
            BatchFormat::Gemini => "]}}}}",
        };
        [self.bytes.as_slice(), tail.as_bytes()].concat()
    }
}

/// The name of a batch as people see it.
pub(super) fn display_name(token: &str) -> String {
    format!("assize-{token}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::HttpCall;

    fn key(text: &str) -> CallKey {
        let call = HttpCall { path: "/p".into(), headers: Vec::new(), body: text.as_bytes().to_vec() };
        CallKey::new("w", "http://h", "m", &call, 1)
    }

    #[test]
    fn each_format_has_its_own_form_and_names_requests_by_their_keys() {
        for format in [
            BatchFormat::OpenAi("/v1/chat/completions"),
            BatchFormat::Anthropic,
            BatchFormat::Gemini,
            BatchFormat::Bedrock,
        ] {
            let mut draft = BatchDraft::new(format, "t1", "m");
            draft.add(key("a"), br#"{"model":"m"}"#.to_vec()).unwrap();
            draft.add(key("b"), br#"{"model":"m","x":"y"}"#.to_vec()).unwrap();
            assert!(draft.add(key("c"), b"no JSON".to_vec()).is_err());
            assert_eq!(draft.len(), 2);

            let text = String::from_utf8(draft.to_bytes()).unwrap();
            let [first, second] = match format {
                BatchFormat::OpenAi(_) => {
                    let lines: Vec<serde_json::Value> =
                        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                    [0, 1].map(|at| (lines[at]["custom_id"].clone(), lines[at]["body"].clone()))
                }
                BatchFormat::Bedrock => {
                    let lines: Vec<serde_json::Value> =
                        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                    [0, 1].map(|at| (lines[at]["recordId"].clone(), lines[at]["modelInput"].clone()))
                }
                BatchFormat::Anthropic => {
                    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
                    [0, 1].map(|at| {
                        (all["requests"][at]["custom_id"].clone(), all["requests"][at]["params"].clone())
                    })
                }
                BatchFormat::Gemini => {
                    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
                    assert_eq!(all["batch"]["display_name"], "assize-t1");
                    let requests = &all["batch"]["input_config"]["requests"]["requests"];
                    [0, 1]
                        .map(|at| (requests[at]["metadata"]["key"].clone(), requests[at]["request"].clone()))
                }
            };
            assert_eq!(first, (json!(key("a").to_string()), json!({"model": "m"})), "{format:?}");
            assert_eq!(second, (json!(key("b").to_string()), json!({"model": "m", "x": "y"})), "{format:?}");
        }
    }

    #[test]
    fn a_batch_is_full_at_the_limits_of_its_format() {
        let mut draft = BatchDraft::new(BatchFormat::Gemini, "t", "m");
        assert!(draft.has_room(usize::MAX / 2), "one request is sent whatever its length");
        draft.add(key("a"), format!("\"{}\"", "x".repeat(10_000_000)).into_bytes()).unwrap();
        assert!(draft.has_room(8_000_000) && !draft.has_room(9_999_999));
    }
}
