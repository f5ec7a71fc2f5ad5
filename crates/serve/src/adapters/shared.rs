//! What the adapters have in common: the body and options of a request, and grading by a named rubric.

use std::sync::Arc;

use axum::extract::Request;
use serde_json::Value;

use crate::api::{GradeSample, OnUngraded, SampleResult};
use crate::body::{plan_request, read_body, work_on_body};
use crate::decode::parse_body;
use crate::job::JobGuard;
use crate::paths::OPENRLHF;
use crate::problem::ApiError;
use crate::query::{AdapterQuery, DEFAULT_RUBRIC};
use crate::reply::failed_request;
use crate::request_memory::HeldMemory;
use crate::service::Service;
use crate::telemetry::TraceParent;
use crate::tenant::Tenant;

/// Body and options of a request to an adapter, and the memory that it holds.
pub(super) async fn read(
    service: &Service,
    tenant: &Tenant,
    request: Request,
) -> Result<(Value, AdapterQuery, HeldMemory), ApiError> {
    let takes_answer = request.uri().path() == OPENRLHF;
    let mut query = AdapterQuery::parse(request.uri().query(), takes_answer)?;
    query.trace = TraceParent::from_headers(request.headers());

    let (body, memory) = read_json(service, tenant, request).await?;
    Ok((body, query, memory))
}

/// Body of a request to an adapter, and the memory that it holds.
pub(super) async fn read_json(
    service: &Service,
    tenant: &Tenant,
    request: Request,
) -> Result<(Value, HeldMemory), ApiError> {
    let (head, body) = request.into_parts();
    let (body, memory) = read_body(service, tenant, &head.headers, body).await?;

    let limits = service.options.limits;
    let body = work_on_body(service, body.len(), move || parse_body(&body, &limits)).await?;
    Ok((body, memory))
}

/// Grades samples by the named rubric, or by the rubric `default`; the results are in the order of the samples.
///
/// # Errors
/// When the request can't be used, or a reward is unknown and the policy is `error`.
pub(super) async fn grade(
    service: &Arc<Service>,
    tenant: &Arc<Tenant>,
    query: &AdapterQuery,
    memory: HeldMemory,
    samples: Vec<GradeSample>,
    otherwise: OnUngraded,
) -> Result<Vec<Arc<SampleResult>>, ApiError> {
    let count = samples.len();
    if count > service.options.limits.samples {
        let message =
            format!("{count} samples; at most {} are graded at once", service.options.limits.samples);
        return Err(ApiError::invalid_at("", message));
    }

    let has_default = service.rubrics.find(DEFAULT_RUBRIC, None).is_ok();
    let request = query.request(samples, otherwise, has_default)?;
    let plan = plan_request(service, tenant, request, query.trace.clone(), 0).await?;
    let job = JobGuard::new(service.start(tenant, plan, memory)?, false);
    let results = job.job.all().await;
    failed_request(service, &results, job.job.on_ungraded).map_or(Ok(results), Err)
}
