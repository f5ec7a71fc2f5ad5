//! Forms of replies: one JSON document, JSON lines, or server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;

use crate::api::{GradeReply, OnUngraded, SampleResult, StreamEnd, UngradedPolicy};
use crate::job::{Job, JobGuard};
use crate::problem::{ApiError, ErrorBody, RequestProblem};
use crate::service::Service;

/// Header that marks a reply that repeats remembered results.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyForm {
    /// One document, with results in the order of the samples.
    Json,
    /// A line for each result when it is finished, and a last line with the summary.
    Lines,
    /// An event for each of these.
    Events,
}

impl ReplyForm {
    /// The form that a client accepts.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut types = accepted
            .flat_map(|value| value.split(','))
            .map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        types
            .find_map(|kind| match kind.as_str() {
                "application/json" => Some(Self::Json),
                "application/x-ndjson" | "application/jsonl" | "application/ndjson" => Some(Self::Lines),
                "text/event-stream" => Some(Self::Events),
                _ => None,
            })
            .unwrap_or(Self::Json)
    }
}

/// Waits for the results of a job and replies with them.
pub(crate) async fn reply(
    service: &Arc<Service>,
    guard: JobGuard,
    form: ReplyForm,
    replayed: bool,
) -> Response {
    let mut response = match form {
        ReplyForm::Json => whole(service, guard.job()).await,
        ReplyForm::Lines => streamed(service, guard, "application/x-ndjson", lines),
        ReplyForm::Events => streamed(service, guard, "text/event-stream", events),
    };
    if replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }

    response
}

async fn whole(service: &Service, job: &Job) -> Response {
    let mut results = job.all().await;
    let summary = job.summary(results.iter().map(Arc::as_ref));
    if let Some(error) = failed_request(service, &results, job.on_ungraded) {
        return error.into_response();
    }

    results.retain(|result| !result.is_dropped(job.on_ungraded));
    Json(GradeReply { results, summary }).into_response()
}

/// Error of a request that must fail if a reward is unknown. If a judge is only unavailable for now, the error has a
/// time to retry.
pub(crate) fn failed_request(
    service: &Service,
    results: &[Arc<SampleResult>],
    on_ungraded: OnUngraded,
) -> Option<ApiError> {
    if on_ungraded != OnUngraded::Named(UngradedPolicy::Error) {
        return None;
    }

    let lacking = || results.iter().filter(|result| result.lacks_reward() || result.lacks_group_score());
    let problems: Vec<RequestProblem> = lacking()
        .map(|result| {
            let reason = result.error.as_deref().unwrap_or("no criterion applies");
            RequestProblem::new(format!("/samples/{}", result.index), reason)
        })
        .collect();
    if problems.is_empty() {
        return None;
    }

    let count = |lacks: fn(&SampleResult) -> bool| results.iter().filter(|result| lacks(result)).count();
    let parts = [
        (count(SampleResult::lacks_reward), "have no reward"),
        (count(SampleResult::lacks_group_score), "have no group score"),
    ];
    let counted = parts.iter().filter(|(count, _)| *count > 0);
    let counted: Vec<String> =
        counted.map(|(count, what)| format!("{count} of {} samples {what}", results.len())).collect();
    let message = counted.join(", ");
    let error = ApiError::new(StatusCode::BAD_GATEWAY, "ungraded", message);
    let error = ApiError { body: ErrorBody { problems, ..error.body }, ..error };
    let may_succeed_later = lacking().all(|result| result.is_unavailable);
    Some(if may_succeed_later { service.unavailable(error) } else { error })
}

type Encode = fn(name: &str, json: &str) -> String;

fn lines(_name: &str, json: &str) -> String {
    format!("{json}\n")
}

fn events(name: &str, json: &str) -> String {
    // JSON on one line contains no line break.
    format!("event: {name}\ndata: {json}\n\n")
}

/// Progress of a stream.
struct StreamState {
    service: Arc<Service>,
    guard: JobGuard,
    seen: Vec<Arc<SampleResult>>,
    is_over: bool,
}

fn streamed(service: &Arc<Service>, guard: JobGuard, content_type: &'static str, encode: Encode) -> Response {
    let state = StreamState { service: Arc::clone(service), guard, seen: Vec::new(), is_over: false };
    let chunks = stream::unfold(state, move |mut state| async move {
        if state.is_over {
            return None;
        }

        let job = Arc::clone(state.guard.job());
        let news = job.next(state.seen.len()).await;
        let mut text = String::new();
        for result in news.iter().filter(|result| !result.is_dropped(job.on_ungraded)) {
            text.push_str(&encode("result", &to_json(&**result)));
        }
        state.seen.extend(news);

        if state.seen.len() == job.total() {
            let summary = job.summary(state.seen.iter().map(Arc::as_ref));
            let error = failed_request(&state.service, &state.seen, job.on_ungraded).map(|error| error.body);
            let name = if error.is_some() { "error" } else { "summary" };
            text.push_str(&encode(name, &to_json(&StreamEnd { summary, error })));
            state.is_over = true;
        }

        Some((Ok::<_, Infallible>(Bytes::from(text)), state))
    });

    let mut response = Body::from_stream(chunks).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that buffer replies would hold results back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// JSON of one of our own types, which always serializes.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":{:?}}}", error.to_string()))
}
