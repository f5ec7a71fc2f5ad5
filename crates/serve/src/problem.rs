//! The common form of errors.

pub(crate) use assize_limits::REQUEST_PROBLEMS as MAX_PROBLEMS;
use axum::Json;
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// Pointer to the weight set in a request.
pub(crate) const WEIGHTS: &str = "/weights";

/// Longest text of a problem in characters, since it may quote the request.
const MAX_MESSAGE: usize = 500;

/// Body of every reply that is an error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorReply {
    /// The error.
    pub error: ErrorBody,
}

/// An error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// Stable name of the kind of error, such as `invalid_request`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Description for people: what is wrong, and what to do.
    pub message: String,
    /// Every problem of the request, in its order; empty for errors that are not about its body.
    pub problems: Vec<RequestProblem>,
}

/// One problem of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestProblem {
    /// JSON pointer to the value, such as `/samples/3/output`; empty for the body as a whole.
    pub path: String,
    /// Description for people.
    pub message: String,
}

impl RequestProblem {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }

        Self { path: path.into(), message }
    }
}

/// An error as the reply to a request.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) body: ErrorBody,
    /// Seconds after which the same request may succeed.
    pub(crate) retry_after: Option<u64>,
    /// True to close the connection after the reply.
    pub(crate) closes: bool,
}

impl ApiError {
    /// The error of a request that names a weight set for a rubric.
    pub(crate) fn no_weight_sets() -> Self {
        Self::invalid_at(WEIGHTS, "a rubric has no weight sets; remove `weights`")
    }

    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        let body = ErrorBody { kind, message: message.into(), problems: Vec::new() };
        Self { status, body, retry_after: None, closes: false }
    }

    /// An error about the content of a body.
    pub(crate) fn invalid(mut problems: Vec<RequestProblem>) -> Self {
        let count = problems.len();
        problems.truncate(MAX_PROBLEMS);
        let message = match (count, problems.first()) {
            (1, Some(only)) if only.path.is_empty() => only.message.clone(),
            (1, Some(only)) => format!("{}: {}", only.path, only.message),
            _ if count > MAX_PROBLEMS => format!("{count} problems; the first {MAX_PROBLEMS} are listed"),
            _ => format!("{count} problems"),
        };
        let error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", message);
        Self { body: ErrorBody { problems, ..error.body }, ..error }
    }

    /// An error about one value of a body.
    pub(crate) fn invalid_at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid(vec![RequestProblem::new(path, message)])
    }

    pub(crate) fn overloaded(message: impl Into<String>, retry_after: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", message).retry_after(retry_after)
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    pub(crate) fn kind(self, kind: &'static str) -> Self {
        Self { body: ErrorBody { kind, ..self.body }, ..self }
    }

    pub(crate) fn closing(self) -> Self {
        Self { closes: true, ..self }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorReply { error: self.body })).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.closes {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }

        response
    }
}
