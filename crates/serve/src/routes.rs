//! Routes of the service.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::access::{ClientAccess, guard};
use crate::adapters;
use crate::body::{plan_request, read_body, work_on_body};
use crate::decode::parse_usable;
use crate::idempotency::ReplayRequest;
use crate::job::JobGuard;
use crate::openapi::openapi;
use crate::paths::PATHS;
use crate::problem::ApiError;
use crate::reply::{ReplyForm, reply};
use crate::request::decode_usable;
use crate::service::Service;
use crate::telemetry::TraceParent;
use crate::tenant::Tenant;

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
        post(adapters::lambda::grade_event),
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_description_has_every_address() {
        let document = openapi();
        let described: BTreeSet<&str> =
            document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(described, BTreeSet::from(PATHS));
    }
}
