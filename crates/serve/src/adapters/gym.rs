//! NeMo Gym: `POST /verify` of a resources server. Fields of the request come back beside the reward.

use std::sync::Arc;

use assize_rubric::UngradedKind;
use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::{Map, Value, json};

use super::{grade, read};
use crate::api::{GradeSample, OnUngraded, SampleResult};
use crate::problem::ApiError;
use crate::service::Service;
use crate::tenant::Tenant;

/// Fields of a row that hold a reference answer, by the names that data sets use.
const REFERENCES: [&str; 5] = ["reference", "reference_answer", "expected_answer", "ground_truth", "label"];

/// Answers with the request and its reward. Where the reward is not known it is 0 with `mask_sample`, which takes the sample out
/// of losses and metrics, and the kind of failure.
pub(crate) async fn verify(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (body, query) = read(&service, &tenant, request).await?;
    let Value::Object(mut body) = body else {
        return Err(ApiError::invalid_at("", "expected an object"));
    };

    let sample = read_sample(&body)?;
    let results = grade(&service, &tenant, &query, vec![sample], OnUngraded::Null).await?;
    if let Some(result) = results.first() {
        add_result(&mut body, result);
    }

    Ok(Json(Value::Object(body)))
}

fn add_result(body: &mut Map<String, Value>, result: &SampleResult) {
    let components: Map<String, Value> = result
        .reward_components
        .iter()
        .filter_map(|(id, value)| Some((id.clone(), json!((*value)?))))
        .collect();
    let kind = result.decisions.iter().find_map(|row| row.ungraded.as_ref()).map(|cause| match cause.kind {
        UngradedKind::Malformed | UngradedKind::Truncated | UngradedKind::Evidence => "judge_unparseable",
        UngradedKind::Cancelled => "cancelled",
        _ => "judge_failed",
    });
    let is_unknown = result.reward.is_none();
    let kind = kind.or_else(|| is_unknown.then_some("judge_failed"));

    body.insert("reward".into(), json!(result.reward.unwrap_or(0.0)));
    body.insert("reward_components".into(), Value::Object(components));
    body.insert("mask_sample".into(), json!(is_unknown));
    body.insert("failure_kind".into(), json!(kind));
    body.insert("failure_reason".into(), json!(result.error));
}

fn read_sample(body: &Map<String, Value>) -> Result<GradeSample, ApiError> {
    let Some(response) = body.get("response").filter(|response| response.is_object()) else {
        return Err(ApiError::invalid_at("/response", "missing: the response of the model"));
    };
    let Some(output) = response.get("output").and_then(Value::as_array) else {
        return Err(ApiError::invalid_at("/response/output", "missing: the list of output items"));
    };

    let params = body.get("responses_create_params");
    let instructions = params.and_then(|params| params.get("instructions")).and_then(Value::as_str);
    let input = params.and_then(|params| params.get("input")).cloned();
    let input = match (instructions, input) {
        (Some(instructions), Some(Value::String(text))) => Some(json!([
            { "role": "system", "content": instructions }, { "role": "user", "content": text },
        ])),
        (_, input) => input,
    };

    Ok(GradeSample {
        input,
        messages: Some(output.iter().filter_map(to_message).collect()),
        reference: REFERENCES.iter().find_map(|key| body.get(*key)).filter(|value| !value.is_null()).cloned(),
        ..GradeSample::default()
    })
}

/// An output item of the Responses API as a chat message; nothing for reasoning, which is no part of the answer.
fn to_message(item: &Value) -> Option<Value> {
    let text = |key: &str| item.get(key).cloned().unwrap_or(Value::Null);
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" => Some(json!({ "role": "assistant", "content": text("content") })),
        "function_call" => Some(json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{
                "id": text("call_id"),
                "function": { "name": text("name"), "arguments": text("arguments") },
            }],
        })),
        "function_call_output" => {
            Some(json!({ "role": "tool", "tool_call_id": text("call_id"), "content": text("output") }))
        }
        _ => None,
    }
}
