//! Results in the form that extensions get, with the names of promptfoo.

use std::collections::BTreeMap;

use assize_model::Case;
use assize_rubric::Verdict;
use assize_store::{CaseRecord, CriterionRow, GraderRow, ResultRow};
use serde_json::{Map, Value, json};

/// The test of a case as JSON, with any changes that were made to it.
pub(crate) fn test_value(case: &Case) -> Value {
    case.authored.as_ref().map_or_else(|| json!({"vars": case.vars}), |test| test.value().clone())
}

/// The result of a case. `case` is the one that was run; without it, its variables are missing.
pub(crate) fn result_value(record: &CaseRecord, case: Option<&Case>) -> Value {
    let row = &record.result;
    let has_passed = row.verdict == Verdict::Pass;
    let score = row.score.unwrap_or_default();
    let error = row.error.as_ref().map(|error| error.message.clone());
    let failed = || row.graders.iter().filter(|grader| grader.verdict != Some(Verdict::Pass));
    let reasons: Vec<String> = failed().filter_map(reason_of).collect();
    let components: Vec<Value> = row.graders.iter().map(component_value).collect();
    let named: Map<String, Value> =
        row.graders.iter().map(|grader| (grader.name.clone(), grader.score.into())).collect();
    let total = row.tokens.input.zip(row.tokens.output).map(|(input, output)| input + output);

    let mut result = json!({
        "id": row.case_id,
        "success": has_passed,
        "score": score,
        "failureReason": if row.error.is_some() { 2 } else { i32::from(!has_passed) },
        "verdict": row.verdict.name(),
        "latencyMs": row.latency_ms.unwrap_or_default(),
        "cost": row.cost_usd,
        "provider": {"id": row.target, "label": row.target},
        "response": {
            "output": row.answer,
            "tokenUsage": {"prompt": row.tokens.input, "completion": row.tokens.output, "total": total},
        },
        "gradingResult": {
            "pass": has_passed,
            "score": score,
            "reason": if has_passed { "All assertions passed".to_owned() } else { reasons.join("; ") },
            "componentResults": components,
        },
        "namedScores": named,
        "metadata": {},
    });
    if let Some(error) = error.or_else(|| (!has_passed && !reasons.is_empty()).then(|| reasons.join("; "))) {
        result["error"] = Value::from(error);
    }
    if let Some(case) = case {
        let test = test_value(case);
        result["vars"] = json!(case.vars);
        result["metadata"] = test.get("metadata").cloned().unwrap_or_else(|| json!({}));
        result["prompt"] = prompt_of(case);
        result["testCase"] = test;
    }

    result
}

/// The prompt of a case, filled in, with the label of its template.
fn prompt_of(case: &Case) -> Value {
    let label = case.authored.as_ref().and_then(|test| test.prompt()).map(|prompt| prompt["label"].clone());
    json!({"raw": case.question(), "label": label})
}

fn component_value(grader: &GraderRow) -> Value {
    json!({
        "pass": grader.verdict == Some(Verdict::Pass),
        "score": grader.score,
        "reason": reason_of(grader),
        "assertion": {"type": grader.type_name, "metric": grader.name},
    })
}

fn reason_of(grader: &GraderRow) -> Option<String> {
    if let Some(error) = &grader.error {
        return Some(error.clone());
    }
    let reasons = grader.criteria.iter().map(|CriterionRow { reason, .. }| reason.as_str());
    let reasons: Vec<&str> = reasons.filter(|reason| !reason.is_empty()).collect();

    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Sums over the results of each prompt with each target, in promptfoo's form.
#[derive(Default)]
pub(crate) struct PromptSums {
    sums: BTreeMap<(String, String), PromptSum>,
}

#[derive(Default)]
struct PromptSum {
    passed: usize,
    failed: usize,
    errors: usize,
    score: f64,
    cost: f64,
    latency_ms: u64,
}

impl PromptSums {
    /// Adds a result.
    pub(crate) fn add(&mut self, row: &ResultRow, case: Option<&Case>) {
        let prompt = case.and_then(|case| case.authored.as_ref()?.prompt()).unwrap_or_else(|| json!({}));
        let target = row.target.as_deref().unwrap_or_default().to_owned();
        let sum = self.sums.entry((prompt.to_string(), target)).or_default();
        match (&row.error, row.verdict) {
            (Some(_), _) => sum.errors += 1,
            (None, Verdict::Pass) => sum.passed += 1,
            (None, _) => sum.failed += 1,
        }
        sum.score += row.score.unwrap_or_default();
        sum.cost += row.cost_usd.map(assize_rubric::Usd::as_dollars).unwrap_or_default();
        sum.latency_ms += row.latency_ms.unwrap_or_default();
    }

    /// The prompts with their sums.
    pub(crate) fn into_value(self) -> Value {
        let prompts = self.sums.into_iter().map(|((prompt, target), sum)| {
            let mut value: Value = serde_json::from_str(&prompt).unwrap_or_default();
            value["provider"] = Value::from(target);
            value["metrics"] = json!({
                "testPassCount": sum.passed,
                "testFailCount": sum.failed,
                "testErrorCount": sum.errors,
                "score": sum.score,
                "cost": sum.cost,
                "totalLatencyMs": sum.latency_ms,
            });
            value
        });
        prompts.collect()
    }
}
