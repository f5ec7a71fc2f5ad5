//! Functions that compute one score from the named scores of a case.

use assize_grade::score_by_code;
use assize_model::AuthorCode;
use assize_rubric::CaseDecision;
use serde_json::{Map, Value, json};

use super::path::GraderPath;
use super::programs::{code_folder, grader_folder};

/// Lets a function decide. If it fails or returns no result, the case is undecided.
pub(super) async fn decide(
    path: &GraderPath<'_>,
    code: &AuthorCode,
    threshold: Option<f64>,
    named: &Map<String, Value>,
    results: &Value,
) -> CaseDecision {
    let parts: Vec<Value> =
        results.as_object().into_iter().flatten().map(|(_, result)| part(result)).collect();
    let mut context = json!({
        "componentResults": parts,
        "tokensUsed": {"total": 0, "prompt": 0, "completion": 0},
    });
    // Without a threshold there is no such key, so that a function can use a default.
    if let Some(threshold) = threshold {
        context["threshold"] = threshold.into();
    }

    let folder = code.program().and_then(code_folder).or_else(|| grader_folder(path.grader));
    let named = Value::Object(named.clone());
    let scored = score_by_code(code, &named, &context, folder.as_deref(), &path.context.item.programs).await;
    match scored {
        Ok(checked) => path.checked_decision(checked),
        Err(message) => path.broken_decision(format!("the scoring function failed: {message}")),
    }
}

/// The result of an assertion, in promptfoo's form.
fn part(result: &Value) -> Value {
    json!({
        "pass": result["verdict"] == "pass",
        "score": result["score"],
        "reason": result["reasoning"],
        "assertion": {"type": result["type"], "weight": result["weight"]},
    })
}
