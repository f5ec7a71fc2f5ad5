//! NeMo Gym: `POST /verify` of a resources server. The reply repeats the fields of the request and adds the
//! reward.

use std::sync::Arc;

use assize_rubric::UngradedKind;
use axum::Json;
use axum::extract::{Extension, Request, State};
use serde_json::{Map, Value, json};

use super::shared::{grade, read};
use crate::api::{GradeSample, NamedRubric, OnUngraded, SampleResult};
use crate::decode::{ProblemList, child};
use crate::problem::ApiError;
use crate::request::read_named;
use crate::service::Service;
use crate::tenant::Tenant;

/// Fields of a row that may hold a reference answer, by the names that data sets use.
const REFERENCES: [&str; 5] = ["reference", "reference_answer", "expected_answer", "ground_truth", "label"];

/// Fields of a row whose judge failed. Rollout collection uses them to distinguish such rows from rows with a reward,
/// and judges them again later.
const FAILURE_CLASS: &str = "_ng_failure_class";
const JUDGE_ERROR: &str = "_ng_failure_judge_error";

/// Field of a row that names its own rubric. Agents of Gym post to `/verify` without a query.
const RUBRIC_FIELD: &str = "assize_rubric";

/// Answers with the request and its reward. If the reward is unknown, it is 0 with `mask_sample`, which
/// excludes the sample from losses and metrics, and with the kind of failure.
pub(crate) async fn verify(
    State(service): State<Arc<Service>>,
    Extension(tenant): Extension<Arc<Tenant>>,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let (body, query, memory) = read(&service, &tenant, request).await?;
    let Value::Object(mut body) = body else {
        return Err(ApiError::invalid_at("", "expected an object"));
    };

    let query = match body.get(RUBRIC_FIELD).filter(|named| !named.is_null()) {
        Some(named) => query.with_rubric(read_rubric(named)?),
        None => query,
    };
    let Some(sample) = read_sample(&body)? else {
        add_no_answer(&mut body);
        return Ok(Json(Value::Object(body)));
    };
    let results = grade(&service, &tenant, &query, memory, vec![sample], OnUngraded::Null).await?;
    if let Some(result) = results.first() {
        add_result(&mut body, result);
    }

    Ok(Json(Value::Object(body)))
}

/// The rubric of a row: its name, or an object with name and hash.
fn read_rubric(named: &Value) -> Result<NamedRubric, ApiError> {
    let mut problems = ProblemList::default();
    let path = child("", RUBRIC_FIELD);
    let read = match named {
        Value::String(name) => Some(NamedRubric { name: name.clone(), hash: None }),
        Value::Object(map) => read_named(map.clone(), path.clone(), &mut problems),
        _ => None,
    };
    problems.check()?;

    let expected = "expected the name of a loaded rubric, or an object with `name` and `hash`";
    read.ok_or_else(|| ApiError::invalid_at(path, expected))
}

/// Reply for a response without an answer, for example one that was cut off while the model was reasoning.
/// There is nothing to ask a judge about, and no reward.
fn add_no_answer(body: &mut Map<String, Value>) {
    body.insert("reward".into(), json!(0.0));
    body.insert("reward_components".into(), json!({}));
    body.insert("mask_sample".into(), json!(true));
    body.insert("failure_kind".into(), json!("assize:no_answer"));
    body.insert("failure_reason".into(), json!("`response.output` has no message and no call of the model"));
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
    let unknown = if result.is_not_applicable() { "assize:not_applicable" } else { "judge_failed" };
    let kind = kind.or_else(|| is_unknown.then_some(unknown));

    body.insert("reward".into(), json!(result.reward.unwrap_or(0.0)));
    body.insert("reward_components".into(), Value::Object(components));
    body.insert("mask_sample".into(), json!(is_unknown));
    body.insert("failure_kind".into(), json!(kind));
    body.insert("failure_reason".into(), json!(result.error));
    for (key, value) in [(FAILURE_CLASS, json!("judge_failed")), (JUDGE_ERROR, json!(result.error))] {
        // A row that is sent again may still contain the fields of the first reply.
        body.remove(key);
        if is_unknown {
            body.insert(key.into(), value);
        }
    }
}

/// The sample of a request; `None` if the model neither said nor called anything.
pub(crate) fn read_sample(body: &Map<String, Value>) -> Result<Option<GradeSample>, ApiError> {
    let Some(response) = body.get("response").filter(|response| response.is_object()) else {
        return Err(ApiError::invalid_at("/response", "missing: the response of the model"));
    };
    let Some(output) = response.get("output").and_then(Value::as_array) else {
        return Err(ApiError::invalid_at("/response/output", "missing: the list of output items"));
    };

    // A value that is not an item must not count as an empty message of the model.
    if let Some(index) = output.iter().position(|item| !is_item(item)) {
        let path = child("/response/output", &index.to_string());
        return Err(ApiError::invalid_at(path, "expected an output item: an object with `type`"));
    }

    let mut messages: Vec<Value> = output.iter().flat_map(to_messages).collect();
    let is_of_model = |message: &Value| message["role"] == "assistant";
    if !messages.iter().any(is_of_model) {
        return Ok(None);
    }

    // The last items may come from the environment, without a reply of the model.
    let is_of_answer = |message: &Value| is_of_model(message) || message["role"] == "tool";
    let length = messages.iter().rposition(is_of_answer).map_or(0, |index| index + 1);
    messages.truncate(length);

    Ok(Some(GradeSample {
        input: read_input(body.get("responses_create_params")),
        messages: Some(messages),
        reference: REFERENCES.iter().filter_map(|key| body.get(*key)).find(|value| !value.is_null()).cloned(),
        ..GradeSample::default()
    }))
}

/// The question: instructions, then the conversation that the model was given.
fn read_input(params: Option<&Value>) -> Option<Value> {
    let params = params?;
    let instructions = params.get("instructions").and_then(Value::as_str);
    let system = instructions.map(|text| json!({ "role": "system", "content": text }));
    let history: Vec<Value> = match params.get("input") {
        Some(Value::Array(items)) => items.iter().flat_map(to_messages).collect(),
        Some(Value::String(text)) if system.is_none() => return Some(json!(text)),
        Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
        _ => Vec::new(),
    };

    let input: Vec<Value> = system.into_iter().chain(history).collect();
    (!input.is_empty()).then_some(Value::Array(input))
}

/// True for an object with a type; messages may lack it.
fn is_item(item: &Value) -> bool {
    match item.get("type") {
        None | Some(Value::Null) => item.get("content").is_some(),
        Some(kind) => kind.is_string(),
    }
}

/// An item of the Responses API as chat messages. Reasoning and lists from the provider are not part of an
/// answer and give none.
fn to_messages(item: &Value) -> Vec<Value> {
    let part = |key: &str| item.get(key).cloned().unwrap_or(Value::Null);
    let call = |id: Value, arguments: Value| {
        json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{ "id": id, "function": { "name": part("name"), "arguments": arguments } }],
        })
    };
    let result =
        |id: Value, content: Value| json!({ "role": "tool", "tool_call_id": id, "content": content });
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" => {
            let role = item.get("role").cloned().unwrap_or_else(|| json!("assistant"));
            vec![json!({ "role": role, "content": with_refusals(part("content")) })]
        }
        "function_call" => vec![call(part("call_id"), part("arguments"))],
        "custom_tool_call" => vec![call(part("call_id"), part("input"))],
        "function_call_output" | "custom_tool_call_output" => vec![result(part("call_id"), part("output"))],
        // The provider called the tool itself, so one item holds the call and its output.
        "mcp_call" => {
            let answer =
                Some(part("output")).filter(|output| !output.is_null()).unwrap_or_else(|| part("error"));
            vec![call(part("id"), part("arguments")), result(part("id"), answer)]
        }
        _ => Vec::new(),
    }
}

/// Content with refusals turned into text: the model said them.
fn with_refusals(mut content: Value) -> Value {
    for part in content.as_array_mut().into_iter().flatten() {
        if let Some(refusal) = part.get("refusal").filter(|refusal| refusal.is_string()) {
            *part = json!({ "type": "output_text", "text": refusal });
        }
    }

    content
}
