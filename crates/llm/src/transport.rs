//! The seam between wire formats and the network: requests, answers, and how sending can fail.

use std::borrow::Cow;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use thiserror::Error;

use crate::chat_model::BoxFuture;

/// Sends one HTTP request. Tests may pass one that never leaves the process.
pub trait Transport: Send + Sync {
    /// Sends the request and reads the whole answer. Any status is an answer. Must not send anything twice.
    fn send(&self, call: HttpRequest) -> BoxFuture<'_, Result<HttpAnswer, TransportError>>;
}

/// An HTTP request with its credentials. Secret headers are marked sensitive, so `Debug` does not show them.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Method; POST for model servers.
    pub method: Method,
    /// Address.
    pub url: Url,
    /// All headers, without connection headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// Time limit for everything from connecting to the last byte of the answer.
    pub timeout: Duration,
}

/// A whole HTTP answer of any status.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// The body as text. Bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// Like [`HttpAnswer::text`], reusing the body's memory if possible.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8(self.body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// Why there is no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TransportError {
    /// The time limit passed.
    #[error("no whole answer within {}", seconds(*.0))]
    Timeout(Duration),
    /// No connection could be made.
    #[error("could not connect: {0}")]
    Connect(String),
    /// The connection broke before the answer was complete.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The answer was larger than allowed; the limit in bytes.
    #[error("the answer is larger than {} MiB", .0 >> 20)]
    TooLarge(usize),
    /// This machine cannot make such requests at all.
    #[error("can't make HTTP requests: {0}")]
    Unusable(String),
}

/// The text of the innermost cause, which explains the failure. The outer errors repeat the address, which may hold
/// credentials.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error.source();
    let mut text = None;
    while let Some(inner) = cause {
        text = Some(inner.to_string());
        cause = inner.source();
    }

    text.unwrap_or_else(|| "no reason given".to_owned())
}

/// Wait before another try to connect when no more files may be opened.
pub(crate) const FILES_PAUSE: Duration = Duration::from_millis(25);

/// Whether this process or machine has reached its limit of open files. The server is not involved, and other
/// files will be closed.
pub(crate) fn out_of_files(error: &(dyn std::error::Error + 'static)) -> bool {
    /// `ENFILE` and `EMFILE`, and the latter's code on Windows.
    const CODES: [i32; 3] = [23, 24, 10_024];

    let mut cause = Some(error);
    while let Some(error) = cause {
        let code = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
        if code.is_some_and(|code| CODES.contains(&code)) {
            return true;
        }
        cause = error.source();
    }

    false
}

fn seconds(limit: Duration) -> String {
    if limit.subsec_nanos() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}
