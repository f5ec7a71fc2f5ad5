//! Refusals of a proxy, with their HTTP status.

use hyper::StatusCode;

use crate::error::{AskError, ErrorKind};

/// Why a request is not answered.
pub(super) struct ProxyRefusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
}

impl ProxyRefusal {
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    pub(super) fn too_often(message: String) -> Self {
        Self { status: StatusCode::TOO_MANY_REQUESTS, message }
    }
}

impl From<AskError> for ProxyRefusal {
    fn from(error: AskError) -> Self {
        let status = match error.kind {
            ErrorKind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::BadRequest | ErrorKind::ContextLength => StatusCode::BAD_REQUEST,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self { status, message: error.to_string() }
    }
}
