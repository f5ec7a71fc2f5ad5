//! Authentication and routing of requests.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::handler::ProxyHandler;
use super::refusal::ProxyRefusal;
use super::{invoke, openai};

/// The largest request body, in bytes.
const MAX_BODY: usize = 8 << 20;
/// Time limit for the head of a request.
pub(super) const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for its body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Checks the token before the handler gets a request.
pub(super) struct ProxyAuth {
    /// Compared as a hash, which takes constant time.
    token: blake3::Hash,
    handler: Arc<ProxyHandler>,
}

impl ProxyAuth {
    pub(super) fn new(token: &str, handler: Arc<ProxyHandler>) -> Self {
        Self { token: blake3::hash(token.as_bytes()), handler }
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = shown.and_then(|shown| {
            let (scheme, token) = shown.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        token.is_some_and(|token| blake3::hash(token.as_bytes()) == self.token)
    }
}

/// Answers one request.
pub(super) async fn answer(auth: &ProxyAuth, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if !auth.admits(request.headers()) {
        let refusal = ProxyRefusal {
            status: StatusCode::UNAUTHORIZED,
            message: "this server answers only to the token of the program it was opened for".to_owned(),
        };
        return response(&Err(refusal), false);
    }

    let path = request.uri().path().to_owned();
    let path = path.strip_prefix("/v1").unwrap_or(&path);
    let is_openai = path == "/chat/completions" || path == "/models";
    response(&route(&auth.handler, path, request).await, is_openai)
}

async fn route(
    handler: &ProxyHandler,
    path: &str,
    request: Request<Incoming>,
) -> Result<Value, ProxyRefusal> {
    let method = request.method().clone();
    let expected = match path {
        "/info" | "/models" => Method::GET,
        "/invoke" | "/invokeBatch" | "/chat/completions" => Method::POST,
        _ => {
            return Err(ProxyRefusal {
                status: StatusCode::NOT_FOUND,
                message: "there is /info, /invoke, /invokeBatch, /v1/chat/completions and /v1/models"
                    .to_owned(),
            });
        }
    };
    if method != expected {
        return Err(ProxyRefusal {
            status: StatusCode::METHOD_NOT_ALLOWED,
            message: format!("{path} takes {expected}, not {method}"),
        });
    }

    match path {
        "/info" => Ok(invoke::info(handler)),
        "/models" => Ok(openai::models(handler)),
        "/invoke" => invoke::one(handler, &body(request).await?).await,
        "/invokeBatch" => invoke::batch(handler, &body(request).await?).await,
        _ => openai::chat(handler, &body(request).await?).await,
    }
}

async fn body(request: Request<Incoming>) -> Result<Value, ProxyRefusal> {
    let too_large = || ProxyRefusal {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        message: format!("the body of a request may have {} MiB", MAX_BODY >> 20),
    };

    // If the announced length is too large, there is no need to read the body.
    if request.body().size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }

    let read = Limited::new(request.into_body(), MAX_BODY).collect();
    let collected = tokio::time::timeout(BODY_TIMEOUT, read).await.map_err(|_| ProxyRefusal {
        status: StatusCode::REQUEST_TIMEOUT,
        message: "the body of the request did not arrive in time".to_owned(),
    })?;
    let bytes = collected.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            too_large()
        } else {
            ProxyRefusal::bad(format!("the body of the request could not be read: {error}"))
        }
    })?;
    serde_json::from_slice(&bytes.to_bytes())
        .map_err(|error| ProxyRefusal::bad(format!("the body is not one JSON value: {error}")))
}

fn response(result: &Result<Value, ProxyRefusal>, is_openai: bool) -> Response<Full<Bytes>> {
    let (status, value) = match result {
        Ok(value) => (StatusCode::OK, value.clone()),
        Err(refusal) if is_openai => (refusal.status, openai::error(refusal)),
        Err(refusal) => (refusal.status, json!({ "error": refusal.message })),
    };
    let mut response = Response::new(Full::new(Bytes::from(value.to_string())));
    *response.status_mut() = status;

    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));

    if result.is_err() {
        // The proxy has made all retries already. This header tells clients that retry by themselves to stop.
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }

    response
}
