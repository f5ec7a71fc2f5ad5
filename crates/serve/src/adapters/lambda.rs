//! Reward functions of AWS (SageMaker, Bedrock): the body is the event of the Lambda function, the reply is its
//! result. A Lambda function of three lines can forward one to the other.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::{Value, json};

use super::shared::{grade, read};
use crate::api::{GradeSample, OnUngraded, SampleResult, UngradedPolicy};
use crate::decode::{ProblemList, child};
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

/// Answers with an `aggregate_reward_score` for each sample. The protocol has no missing reward: without
/// `on_ungraded` in the address, the request fails.
pub(crate) async fn grade_event(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (body, query, memory) = read(&service, &tenant, request).await?;
    let mut problems = ProblemList::default();
    let (samples, is_single) = read_event(body, &mut problems);
    problems.check()?;
    if samples.is_empty() {
        return Ok(Json(json!([])));
    }

    let error = OnUngraded::Named(UngradedPolicy::Error);
    let results = grade(&service, &tenant, &query, memory, samples, error).await?;
    let mut rewards: Vec<Value> = results.iter().map(|result| to_reward(result)).collect();
    Ok(Json(if is_single { rewards.swap_remove(0) } else { Value::Array(rewards) }))
}

fn to_reward(result: &SampleResult) -> Value {
    let metric = |name: &str, value: f64| json!({ "name": name, "value": value, "type": "Metric" });
    let components = result.reward_components.iter().filter_map(|(id, value)| Some(metric(id, (*value)?)));
    let coverage = result.coverage.map(|coverage| metric("coverage", coverage));

    json!({
        "id": result.id,
        "aggregate_reward_score": result.reward,
        "metrics_list": components.chain(coverage).collect::<Vec<Value>>(),
    })
}

/// The samples of an event, and whether the event is a single sample instead of a list.
pub(crate) fn read_event(body: Value, problems: &mut ProblemList) -> (Vec<GradeSample>, bool) {
    let (list, is_single) = match body {
        Value::Array(list) => (list, false),
        other => (vec![other], true),
    };
    let samples = list.into_iter().enumerate();

    (samples.filter_map(|(index, sample)| read_sample(sample, index, problems)).collect(), is_single)
}

fn read_sample(sample: Value, index: usize, problems: &mut ProblemList) -> Option<GradeSample> {
    let path = child("", &index.to_string());
    let Value::Object(mut sample) = sample else {
        problems.add(path, "expected an object with `messages`");
        return None;
    };

    let Some(Value::Array(messages)) = sample.remove("messages") else {
        problems.add(child(&path, "messages"), "missing: the list of messages, the answer last");
        return None;
    };
    let metadata = sample.remove("metadata").unwrap_or_default();
    let own = sample.remove("reference_answer");
    let references = own.into_iter().chain(metadata.get("reference_answer").cloned());
    let id = sample.remove("id").filter(|id| !id.is_null()).map(|id| match id {
        Value::String(id) => id,
        other => other.to_string(),
    });

    Some(GradeSample {
        id,
        messages: Some(messages),
        reference: references.into_iter().find(|reference| !reference.is_null()),
        ..GradeSample::default()
    })
}
