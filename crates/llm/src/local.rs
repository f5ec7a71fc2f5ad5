//! Plain HTTP to a server on this machine, where neither proxies, certificates nor compression have a part.
//!
//! What reqwest does for those at every call is a good part of what a call costs once the server answers at once, and
//! here all of it would be for nothing.

use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reqwest::Url;

use crate::transport::{HttpAnswer, Outgoing, TransportError, innermost};

/// How long a connection that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(90);

/// A client for the servers of this machine. Each request in flight has a connection of its own.
#[derive(Debug)]
pub(crate) struct LocalClient {
    client: Client<HttpConnector, Full<Bytes>>,
    max_answer_bytes: usize,
}

impl LocalClient {
    /// Whether a URL may be used here: credentials in it become a header, which is left to reqwest.
    pub(crate) fn takes(url: &Url) -> bool {
        url.scheme() == "http" && url.username().is_empty() && url.password().is_none()
    }

    pub(crate) fn new(connect_timeout: Duration, max_answer_bytes: usize) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect_timeout));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        Self { client, max_answer_bytes }
    }

    pub(crate) async fn send(&self, call: Outgoing) -> Result<HttpAnswer, TransportError> {
        let timeout = call.timeout;
        tokio::time::timeout(timeout, self.exchange(call))
            .await
            .unwrap_or(Err(TransportError::Timeout(timeout)))
    }

    async fn exchange(&self, call: Outgoing) -> Result<HttpAnswer, TransportError> {
        let unusable = |error: hyper::http::Error| TransportError::Unusable(error.to_string());
        let mut request =
            Request::post(call.url.as_str()).body(Full::new(Bytes::from(call.body))).map_err(unusable)?;
        *request.headers_mut() = call.headers;
        let headers = request.headers_mut();
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!("assize/", env!("CARGO_PKG_VERSION"))));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let answer = self.client.request(request).await.map_err(|error| failure(&error))?;
        let (head, mut rest) = answer.into_parts();
        let mut body = Vec::new();
        while let Some(frame) = rest.frame().await {
            let frame = frame.map_err(|error| TransportError::Broken(innermost(&error)))?;
            let Ok(chunk) = frame.into_data() else { continue };
            if body.len() + chunk.len() > self.max_answer_bytes {
                return Err(TransportError::TooLarge(self.max_answer_bytes));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(HttpAnswer { status: head.status.as_u16(), headers: head.headers, body })
    }
}

fn failure(error: &Error) -> TransportError {
    if error.is_connect() {
        TransportError::Connect(innermost(error))
    } else {
        TransportError::Broken(innermost(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_without_credentials_are_taken() {
        let takes = |url: &str| LocalClient::takes(&Url::parse(url).unwrap());
        assert!(takes("http://localhost:8080/v1/chat?x=1"));
        assert!(!takes("https://localhost:8080/v1"));
        assert!(!takes("http://user@localhost/v1"));
        assert!(!takes("http://:secret@localhost/v1"));
    }
}
