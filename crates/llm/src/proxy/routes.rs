//! Who may come in, and where each request goes.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::desk::Desk;
use super::{invoke, openai};
use crate::error::{AskError, ErrorKind};

/// The largest question, in bytes.
const MAX_BODY: usize = 8 << 20;
/// How long the head of a request may take.
pub(super) const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long its body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// What lies behind the token.
pub(super) struct Door {
    /// Hashes compare in constant time.
    token: blake3::Hash,
    desk: Arc<Desk>,
}

impl Door {
    pub(super) fn new(token: &str, desk: Arc<Desk>) -> Self {
        Self { token: blake3::hash(token.as_bytes()), desk }
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

/// Why a request is not answered as it wishes.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    pub(super) fn too_often(message: String) -> Self {
        Self { status: StatusCode::TOO_MANY_REQUESTS, message }
    }
}

impl From<AskError> for Refusal {
    fn from(error: AskError) -> Self {
        let status = match error.kind {
            ErrorKind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::BadRequest | ErrorKind::ContextLength => StatusCode::BAD_REQUEST,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self { status, message: error.to_string() }
    }
}

/// Answers one request.
pub(super) async fn answer(door: &Door, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if !door.admits(request.headers()) {
        let refusal = Refusal {
            status: StatusCode::UNAUTHORIZED,
            message: "this server answers only to the token of the program it was opened for".to_owned(),
        };
        return said(&Err(refusal), false);
    }
    let path = request.uri().path().to_owned();
    let path = path.strip_prefix("/v1").unwrap_or(&path);
    let is_openai = path == "/chat/completions" || path == "/models";
    said(&route(&door.desk, path, request).await, is_openai)
}

async fn route(desk: &Desk, path: &str, request: Request<Incoming>) -> Result<Value, Refusal> {
    let method = request.method().clone();
    let expected = match path {
        "/info" | "/models" => Method::GET,
        "/invoke" | "/invokeBatch" | "/chat/completions" => Method::POST,
        _ => {
            return Err(Refusal {
                status: StatusCode::NOT_FOUND,
                message: "there is /info, /invoke, /invokeBatch, /v1/chat/completions and /v1/models"
                    .to_owned(),
            });
        }
    };
    if method != expected {
        return Err(Refusal {
            status: StatusCode::METHOD_NOT_ALLOWED,
            message: format!("{path} takes {expected}, not {method}"),
        });
    }
    match path {
        "/info" => Ok(invoke::info(desk)),
        "/models" => Ok(openai::models(desk)),
        "/invoke" => invoke::one(desk, &body(request).await?).await,
        "/invokeBatch" => invoke::batch(desk, &body(request).await?).await,
        _ => openai::chat(desk, &body(request).await?).await,
    }
}

async fn body(request: Request<Incoming>) -> Result<Value, Refusal> {
    let too_large = || Refusal {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        message: format!("the body of a request may have {} MiB", MAX_BODY >> 20),
    };
    // A length that is announced need not be waited for.
    if request.body().size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    let read = Limited::new(request.into_body(), MAX_BODY).collect();
    let collected = tokio::time::timeout(BODY_TIMEOUT, read).await.map_err(|_| Refusal {
        status: StatusCode::REQUEST_TIMEOUT,
        message: "the body of the request did not come in time".to_owned(),
    })?;
    let bytes = collected.map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            too_large()
        } else {
            Refusal::bad(format!("the body of the request could not be read: {error}"))
        }
    })?;
    serde_json::from_slice(&bytes.to_bytes())
        .map_err(|error| Refusal::bad(format!("the body is not one JSON value: {error}")))
}

fn said(result: &Result<Value, Refusal>, is_openai: bool) -> Response<Full<Bytes>> {
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
        // Whatever could be tried again has been; clients that retry by themselves are told so.
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
