//! Bodies of requests: read up to their limits, parsed and checked beside the connections if they are long.

use std::sync::Arc;

use assize_limits::json_memory;
use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::Semaphore;

use crate::api::GradeRequest;
use crate::job::JobPlan;
use crate::problem::ApiError;
use crate::request_memory::HeldMemory;
use crate::service::Service;
use crate::telemetry::TraceParent;
use crate::tenant::Tenant;

/// A body of at most this many bytes is parsed and checked before another thread could begin with it.
const SHORT_BODY: usize = 64 << 10;

/// How much of an oversized body is read and discarded, as a multiple of the allowed size. Most clients look for a
/// reply only after they have sent everything.
const TAKEN_BEYOND: u64 = 4;

/// Seconds after which a client may look for another server, or for this one again.
const RETRY_AFTER_RESTART: u64 = 5;

/// Prepares the samples of a request whose body has this length. A rubric with variables is decoded for each sample, so
/// even a short body may take long.
pub(crate) async fn plan_request(
    service: &Arc<Service>,
    tenant: &Arc<Tenant>,
    request: GradeRequest,
    trace: Option<TraceParent>,
    length: usize,
) -> Result<JobPlan, ApiError> {
    let length = if length > SHORT_BODY { length } else { length.max(service.template_bytes(&request)) };
    let (planner, tenant) = (Arc::clone(service), Arc::clone(tenant));
    work_on_body(service, length, move || planner.plan(&tenant, request, trace)).await
}

/// Output of `work` on a body of this length. Long bodies are processed on other threads than connections use.
pub(crate) async fn work_on_body<T: Send + 'static>(
    service: &Service,
    length: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if length <= SHORT_BODY { work() } else { beside_connections(&service.long_work, work).await }
}

/// Runs long `work` on other threads than connections use. Only a few run at once, because they take much memory and
/// time.
pub(crate) async fn beside_connections<T: Send + 'static>(
    turns: &Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    // The semaphore is never closed.
    let turn = Arc::clone(turns).acquire_owned().await.ok();
    // The work continues when its client disconnects, so the permit moves into the work.
    let with_turn = move || {
        let _turn = turn;
        work()
    };
    let done = tokio::task::spawn_blocking(with_turn).await;
    done.unwrap_or_else(|error| {
        let message = format!("the request could not be read: {error}");
        Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message))
    })
}

/// Reads the body of an acceptable request: the server is not stopping, the client may send one, and it is JSON
/// of an allowed size. The returned memory is to be held until the request is answered.
pub(crate) async fn read_body(
    service: &Service,
    tenant: &Tenant,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, HeldMemory), ApiError> {
    if service.is_draining() {
        let error = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", "the server is stopping");
        return Err(error.retry_after(RETRY_AFTER_RESTART).closing());
    }

    // Browsers can't send this type to another host without a preflight request, which the server does not
    // answer.
    let unsupported = |message: &str| {
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message).closing()
    };
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(unsupported("send JSON, with the header `Content-Type: application/json`"));
    }

    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(unsupported("send the body as it is, without `Content-Encoding`"));
    }

    tenant.count_request()?;

    let limits = service.options.limits;
    let too_large = || {
        let message = format!("the body is larger than {} bytes; send fewer samples", limits.body_bytes);
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message).closing()
    };
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if let Some(length) = length.filter(|length| *length > limits.body_bytes as u64) {
        // A client that waits for `100 Continue` gets the reply without sending its body.
        let sends_anyway = !headers.contains_key(EXPECT);
        if sends_anyway && length <= TAKEN_BEYOND * limits.body_bytes as u64 {
            let _ = tokio::time::timeout(limits.body_time, discard(body)).await;
        }
        return Err(too_large());
    }

    let mut memory = service.memory.begin();
    let mut parts = Vec::new();
    let collected = async {
        let mut body = Limited::new(body, limits.body_bytes);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    return too_large();
                }
                ApiError::new(StatusCode::BAD_REQUEST, "incomplete_body", "the body ended too early")
                    .closing()
            })?;
            if let Ok(data) = frame.into_data() {
                memory.take(data.len())?;
                parts.push(data);
            }
        }
        Ok(())
    };
    tokio::time::timeout(limits.body_time, collected).await.unwrap_or_else(|_| {
        let message = format!("the body did not arrive within {} s", limits.body_time.as_secs());
        Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).closing())
    })?;

    // Most bodies arrive in one part.
    let body = if parts.len() == 1 { parts.swap_remove(0) } else { Bytes::from(parts.concat()) };
    let length = body.len();
    let (body, parsed) =
        work_on_body(service, length, move || Ok((body.clone(), json_memory(&body)))).await?;
    if length.saturating_add(parsed) > service.memory.limit {
        let message = format!(
            "the values of the body take more than {} bytes of memory; send fewer samples",
            service.memory.limit
        );
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message));
    }
    memory.take(parsed)?;

    Ok((body, memory))
}

/// Reads the rest of a body and drops it.
async fn discard(mut body: Body) {
    while let Some(Ok(_)) = body.frame().await {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_work_keeps_its_turn_when_its_client_goes_away() {
        let turns = Arc::new(Semaphore::new(1));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let mut work = Box::pin(beside_connections(&turns, move || {
            let _ = ended.recv();
            Ok(())
        }));
        assert!(futures_util::poll!(&mut work).is_pending());

        drop(work);
        assert_eq!(turns.available_permits(), 0, "the work still takes time and memory");
        drop(end);
        assert!(turns.acquire().await.is_ok());
    }
}
