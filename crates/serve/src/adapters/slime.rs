//! slime, `--rm-type remote_rm --rm-url URL/slime?rubric=NAME`: one sample in, its reward out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::Value;

use super::shared::{grade, read};
use crate::api::{GradeSample, OnUngraded, UngradedPolicy};
use crate::decode::{ObjectReader, ProblemList};
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

/// Answers with the reward. slime has no missing reward: without `on_ungraded` in the address, the request
/// fails and slime retries.
pub(crate) async fn reward(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Option<f64>>, ApiError> {
    let (body, query, memory) = read(&service, &tenant, request).await?;
    let mut problems = ProblemList::default();
    let sample = read_sample(body, &mut problems);
    problems.check()?;

    let samples = sample.into_iter().collect();
    let error = OnUngraded::Named(UngradedPolicy::Error);
    let results = grade(&service, &tenant, &query, memory, samples, error).await?;
    Ok(Json(results.first().and_then(|result| result.reward)))
}

/// The sample of a body.
pub(crate) fn read_sample(body: Value, problems: &mut ProblemList) -> Option<GradeSample> {
    let mut object = ObjectReader::new(body, "", problems)?;
    let (input, output, reference) = (object.take("prompt"), object.text("response"), object.take("label"));
    if output.is_none() {
        object.problem("response", "missing: the answer");
    }
    object.finish();

    Some(GradeSample { input, output: output.map(Value::from), reference, ..GradeSample::default() })
}
