//! Routes of the service.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::access::{ClientAccess, guard};
use crate::adapters;
use crate::api::GradeRequest;
use crate::decode::parse_usable;
use crate::idempotency::ReplayRequest;
use crate::job::{JobGuard, JobPlan};
use crate::openapi::openapi;
use crate::problem::ApiError;
use crate::reply::{ReplyForm, reply};
use crate::request::decode_usable;
use crate::request_memory::{HeldMemory, parsed_bytes};
use crate::service::Service;
use crate::telemetry::TraceParent;
use crate::tenant::Tenant;

/// All paths.
pub(crate) const PATHS: [&str; 14] = [
    "/v1/grade",
    "/v1/rubrics",
    "/v1/openapi.json",
    "/healthz",
    "/readyz",
    "/metrics",
    adapters::openrlhf::PATH,
    "/slime",
    "/verify",
    "/seed_session",
    "/aggregate_metrics",
    "/reverify_mode",
    "/lambda",
    "/v1/fine_tuning/alpha/graders/run",
];

/// Seconds after which a client may look for another server, or for this one again.
const RETRY_AFTER_RESTART: u64 = 5;

/// A body up to this many bytes is parsed and checked faster than another thread could start on it.
const SHORT_BODY: usize = 64 << 10;
/// How much of a body that is too large is read and dropped, as a multiple of the allowed size. Most clients
/// look for a reply only after they have sent everything.
const TAKEN_BEYOND: u64 = 4;

type Shared = State<Arc<Service>>;

/// Handlers, in the order of [`PATHS`].
fn handlers() -> [MethodRouter<Arc<Service>>; PATHS.len()] {
    [
        post(grade),
        get(rubrics),
        get(|| async { Json(openapi()) }),
        get(|| async { "ok\n" }),
        get(ready),
        get(metrics),
        post(adapters::openrlhf::get_reward),
        post(adapters::slime::reward),
        post(adapters::gym::verify),
        post(|| async { Json(json!({})) }),
        post(adapters::gym_metrics::aggregate),
        // The service keeps no state between requests that could affect a reward.
        get(|| async { Json("stateless") }),
        post(adapters::lambda::grade_handler),
        post(adapters::openai::run),
    ]
}

/// The routes with their rules of access.
pub(crate) fn router(rules: ClientAccess) -> Router {
    let service = Arc::clone(&rules.service);
    let routes = PATHS.into_iter().zip(handlers());
    routes
        .fold(Router::new(), |router, (path, handler)| router.route(path, handler))
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .with_state(service)
        .layer(from_fn_with_state(rules, guard))
}

/// Grades the samples of a request.
async fn grade(
    State(service): Shared,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let form = ReplyForm::from_headers(&head.headers);
    let (body, memory) = read_body(&service, &tenant, &head.headers, body).await?;
    let key = idempotency_key(&head.headers, service.options.limits.name_bytes)?;
    let trace = TraceParent::from_headers(&head.headers);
    let replay = key.map(|key| ReplayRequest::new(&tenant.name, key, &body));

    // Known keys are answered before the body is parsed. If the same request arrives twice at once, the later
    // one is found further below.
    if let Some(known) = replay.as_ref().and_then(|replay| service.replays.find(replay)) {
        return Ok(reply(&service, JobGuard::new(known?, true), form, true).await);
    }

    let length = body.len();
    let request = {
        let (decoder, tenant) = (Arc::clone(&service), Arc::clone(&tenant));
        work_on_body(&service, length, move || {
            let limits = &decoder.options.limits;
            let check_rubric = |rubric| decoder.rubric_problems(&tenant, rubric);
            decode_usable(parse_usable(&body, limits)?, limits, check_rubric)
        })
        .await?
    };
    let plan = plan_request(&service, &tenant, request, trace, length).await?;

    let Some(replay) = replay else {
        let job = service.start(&tenant, plan, memory)?;
        return Ok(reply(&service, JobGuard::new(job, false), form, false).await);
    };
    let (job, is_known) = service.replays.find_or(replay, || service.start(&tenant, plan, memory))?;
    Ok(reply(&service, JobGuard::new(job, true), form, is_known).await)
}

/// Prepares the samples of a request whose body has this length. A rubric with variables is decoded for each
/// sample, however short the body is.
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

/// Output of long `work`, run on other threads than connections use. Only a few run at once, since they take
/// much memory and time.
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
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "send JSON, with the header `Content-Type: application/json`";
        return Err(
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message).closing()
        );
    }

    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let message = "send the body as it is, without `Content-Encoding`";
        return Err(
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message).closing()
        );
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
        work_on_body(service, length, move || Ok((body.clone(), parsed_bytes(&body)))).await?;
    if length.saturating_add(parsed) > service.memory.limit() {
        let message = format!(
            "the values of the body take more than {} bytes of memory; send fewer samples",
            service.memory.limit()
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

fn idempotency_key(headers: &HeaderMap, longest: usize) -> Result<Option<String>, ApiError> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    let is_plain = |key: &&str| {
        !key.is_empty() && key.len() <= longest && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if let Some(key) = key.to_str().ok().filter(is_plain) {
        return Ok(Some(key.to_owned()));
    }

    let message = format!("Idempotency-Key: expected 1 to {longest} visible ASCII characters");
    Err(ApiError::invalid_at("", message))
}

/// Lists the named rubrics, and files that can't be used.
async fn rubrics(State(service): Shared) -> Json<Value> {
    let (rubrics, unusable) = service.rubrics.list();
    Json(json!({ "rubrics": rubrics, "unusable": unusable }))
}

async fn ready(State(service): Shared) -> Response {
    if service.is_draining() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response();
    }

    "ready\n".into_response()
}

async fn metrics(State(service): Shared, Extension(tenant): Extension<Arc<Tenant>>) -> Response {
    let only = (!tenant.is_operator).then_some(&*tenant.name);
    let text = service.metrics.to_text(&service.gauges(), only);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(CONTENT_TYPE, kind)], text).into_response()
}

async fn not_found() -> ApiError {
    let message = "no such address; /v1/openapi.json lists all of them";
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    let message = format!("{} does not take {method}; see /v1/openapi.json", uri.path());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

/// Seconds since a moment.
pub(crate) fn seconds_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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

    #[test]
    fn the_description_has_every_address() {
        let document = openapi();
        let described: BTreeSet<&str> =
            document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(described, BTreeSet::from(PATHS));
    }
}
