//! Requests to a provider's batch API: the same server, key and checks as for single requests.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;

use super::BatchFormat;
use super::client::BatchClient;
use crate::classify::classify;
use crate::endpoint::joined;
use crate::error::{AskError, ErrorKind};
use crate::transport::{HttpAnswer, HttpRequest, Transport, TransportError};
use crate::wire::{ANTHROPIC_VERSION, refusal_in};

/// Time limit of a request about a batch.
const STATUS_TIMEOUT: Duration = Duration::from_mins(1);
/// Time limit of sending requests and of reading results.
const TRANSFER_TIMEOUT: Duration = Duration::from_mins(20);

/// The longest id that is accepted from a server.
const LONGEST_ID: usize = 200;

impl BatchClient {
    /// An address under the server's base URL, or under that of its jobs.
    fn url(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = match &self.setup {
            Some(setup) => joined(setup.jobs.clone(), path),
            None => self.client.place(path),
        };
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }

        url
    }

    /// Sends a GET and returns the JSON of the answer.
    pub(super) async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, AskError> {
        let url = self.url(path, query);
        json_of(&self.send(Method::GET, url, HeaderMap::new(), Vec::new(), STATUS_TIMEOUT).await?)
    }

    /// Sends a GET and returns the bytes of the answer.
    pub(super) async fn download(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<u8>, AskError> {
        let url = self.url(path, query);
        Ok(self.send(Method::GET, url, HeaderMap::new(), Vec::new(), TRANSFER_TIMEOUT).await?.body)
    }

    /// Sends a POST and returns the JSON of the answer.
    pub(super) async fn post(&self, path: &str, body: Vec<u8>, kind: &str) -> Result<Value, AskError> {
        let kind = HeaderValue::from_str(kind)
            .map_err(|_| AskError::new(ErrorKind::BadRequest, "the type of the request can't be sent"))?;
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind)]);
        let timeout = if body.len() > 1 << 20 { TRANSFER_TIMEOUT } else { STATUS_TIMEOUT };
        json_of(&self.send(Method::POST, self.url(path, &[]), headers, body, timeout).await?)
    }

    /// Sends a request with the key and the version of the format, and returns the answer if it is a success.
    async fn send(
        &self,
        method: Method,
        url: Url,
        mut headers: HeaderMap,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<HttpAnswer, AskError> {
        if self.format == BatchFormat::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        let request = self.client.with_credentials(HttpRequest { method, url, headers, body, timeout });
        self.checked(match request {
            Ok(request) => self.transport.send(request).await,
            Err(error) => Err(error),
        })
    }

    /// The answer without secrets, if it is a success.
    fn checked(&self, answer: Result<HttpAnswer, TransportError>) -> Result<HttpAnswer, AskError> {
        let failed = |error: AskError| {
            let error = self.client.explain(error);
            // The advice for these kinds is about the many calls of a run and their configurable time limit.
            let fits = !matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Timeout);
            AskError { advice: error.advice.filter(|_| fits), ..error }
        };
        let answer = answer.map_err(|error| failed(AskError::from(&error)))?;

        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }

        let (code, message) = refusal_in(&answer.body);
        let kind = classify(answer.status, &code, &message);
        Err(failed(AskError { status: Some(answer.status), ..AskError::new(kind, message) }))
    }
}

/// The JSON of an answer; null if the answer is empty.
fn json_of(answer: &HttpAnswer) -> Result<Value, AskError> {
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }

    serde_json::from_slice(&answer.body).map_err(|_| {
        let start = crate::excerpt::readable(&answer.text());
        AskError::new(ErrorKind::MalformedReply, format!("the answer is not JSON: {start}"))
    })
}

/// An id that may become part of an address. Servers are not trusted to send harmless ones.
pub(super) fn safe_id(value: &Value) -> Result<String, AskError> {
    let is_safe = |id: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !id.is_empty() && id.len() <= LONGEST_ID && !id.starts_with('.') && id.chars().all(plain)
    };
    value.as_str().filter(is_safe).map(str::to_owned).ok_or_else(|| {
        AskError::new(ErrorKind::MalformedReply, format!("the answer has no usable id: {}", short(value)))
    })
}

/// A value for a message.
pub(super) fn short(value: &Value) -> String {
    crate::excerpt::cut(&value.to_string(), crate::excerpt::MESSAGE_CHARS)
}

/// A time from a server in seconds since 1970, given as a number or as a timestamp.
pub(super) fn seconds(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| Some(value.as_str()?.parse::<jiff::Timestamp>().ok()?.as_second()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_that_lead_elsewhere_are_refused() {
        for id in ["batch_67f7bfc50b288190893e242d9fa47c52", "msgbatch_01Hk", "file-1.2"] {
            assert_eq!(safe_id(&json!(id)), Ok(id.to_owned()));
        }
        for id in [
            json!("../files"),
            json!("a/b"),
            json!(""),
            json!("a?b"),
            json!(".."),
            json!(7),
            json!("a".repeat(201)),
        ] {
            assert!(safe_id(&id).is_err(), "{id}");
        }
    }

    #[test]
    fn times_are_read_in_both_forms() {
        assert_eq!(seconds(&json!(1_700_000_000)), Some(1_700_000_000));
        assert_eq!(seconds(&json!("2023-11-14T22:13:20Z")), Some(1_700_000_000));
        assert_eq!(seconds(&json!("2023-11-14T22:13:20.123456+00:00")), Some(1_700_000_000));
        assert_eq!(seconds(&json!("soon")), None);
    }
}
