//! Results of promptfoo (`promptfoo eval -o results.json`): a single document, or JSON lines.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::text::{
    document, first_line, is_lines, plain_text, question, read_frame, read_lines, read_members,
};
use crate::{Record, RecordError, RecordFile, RecordFormat};

#[derive(Deserialize)]
struct PromptfooFile<'b> {
    #[serde(borrow)]
    results: PromptfooSummary<'b>,
    config: Option<PromptfooConfig>,
}

#[derive(Deserialize)]
struct PromptfooSummary<'b> {
    #[serde(borrow)]
    results: Vec<&'b RawValue>,
}

#[derive(Deserialize)]
struct PromptfooConfig {
    description: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptfooResult {
    test_idx: Option<u64>,
    prompt_idx: Option<u64>,
    prompt: PromptfooPrompt,
    provider: Option<Value>,
    response: Option<PromptfooResponse>,
    error: Option<Value>,
    failure_reason: Option<u64>,
    grading_result: Option<PromptfooGrading>,
    success: Option<bool>,
    score: Option<Value>,
    named_scores: Option<Map<String, Value>>,
    cost: Option<Value>,
    latency_ms: Option<Value>,
    vars: Option<Map<String, Value>>,
    test_case: Option<PromptfooTest>,
}

#[derive(Deserialize)]
struct PromptfooPrompt {
    raw: Option<Value>,
    label: Option<String>,
}

#[derive(Deserialize)]
struct PromptfooResponse {
    output: Option<Value>,
    error: Option<Value>,
}

/// What promptfoo's graders reported about a whole result, or about one assertion.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptfooGrading {
    pass: Option<bool>,
    score: Option<Value>,
    reason: Option<String>,
    /// The same for each assertion. The members of a set of assertions are repeated after the set.
    component_results: Option<Vec<Self>>,
    assertion: Option<Value>,
}

/// Value of `failureReason` if the provider failed, and not an assertion.
const FAILED_PROVIDER: u64 = 2;

#[derive(Deserialize, Default)]
struct PromptfooTest {
    description: Option<String>,
    assert: Option<Vec<Value>>,
    metadata: Option<Map<String, Value>>,
    threshold: Option<f64>,
}

/// Reads results.
pub(crate) fn read_results(bytes: &[u8]) -> Result<RecordFile, RecordError> {
    let mut file = RecordFile::new(RecordFormat::Promptfoo, None);
    let mut results: Vec<PromptfooResult> = if is_lines(bytes) {
        read_lines(bytes, &mut file.problems).map(|(_, result)| result).collect()
    } else {
        let text = document(bytes, 3, &mut file.problems)?;
        let frame: PromptfooFile<'_> = read_frame(&text)?;
        file.name = frame.config.and_then(|config| config.description);
        read_members(&text, &frame.results.results, &mut file.problems)
    };

    // Results are in the order in which they were completed.
    results.sort_by_key(|result| (result.test_idx, result.prompt_idx));
    let mut questions: Vec<(Value, String)> = Vec::new();
    let several = results.iter().any(|result| result.prompt_idx.unwrap_or(0) > 0);
    for result in results {
        let record = record(result, several, &mut questions);
        file.records.push(record);
    }

    Ok(file)
}

/// Converts a result to a record. `questions` contains the id of each test so far, with the values that identify the
/// test. The test's index can't be used, because each repeat has its own index.
fn record(result: PromptfooResult, several: bool, questions: &mut Vec<(Value, String)>) -> Record {
    let test = result.test_case.unwrap_or_default();
    let vars = result.vars.unwrap_or_default();
    let key = json!([test.description, vars]);
    let known = questions
        .iter()
        .rev()
        .take(MAX_COMPARED_TESTS)
        .find(|(known, _)| *known == key)
        .map(|(_, id)| id.clone());
    let cluster = known.unwrap_or_else(|| {
        let number = questions.len() + 1;
        let described = test.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let id = described.map_or_else(|| format!("test-{number}"), str::to_owned);
        let id = if questions.iter().any(|(_, taken)| *taken == id) { format!("{id}-{number}") } else { id };
        questions.push((key, id.clone()));
        id
    });

    let provider = result.provider.as_ref().and_then(provider_name);
    let id = match provider.as_deref().filter(|_| several) {
        Some(provider) => format!("{cluster}/{provider}"),
        None => cluster.clone(),
    };
    let mut record = Record::new(id, "it holds no output");
    record.input = result.prompt.raw.and_then(question);
    record.output = answer(result.response, result.error, result.failure_reason);
    record.assertions = test.assert.unwrap_or_default();
    record.threshold = test.threshold;

    record.add_metadata("cluster", cluster);
    record.add_metadata("provider", provider.unwrap_or_default());
    record.add_metadata("prompt", result.prompt.label.unwrap_or_default());
    record.add_metadata("vars", vars);
    let mut scores = result.named_scores.unwrap_or_default();
    scores.extend(result.success.map(|success| ("success".to_owned(), json!(success))));
    scores.extend(result.score.map(|score| ("score".to_owned(), score)));
    record.add_metadata("scores", scores);
    if let Some(grading) = result.grading_result {
        record.add_metadata("reasons", reasons(grading));
    }
    record.add_metadata("cost", result.cost.unwrap_or_default());
    record.add_metadata("latency_ms", result.latency_ms.unwrap_or_default());
    for (key, value) in test.metadata.unwrap_or_default() {
        record.add_metadata(&key, value);
    }

    record
}

/// Returns the answer of a result, or the reason why it has none.
fn answer(
    response: Option<PromptfooResponse>,
    error: Option<Value>,
    failure: Option<u64>,
) -> Result<Value, String> {
    let (output, why) = response.map_or((None, None), |response| (response.output, response.error));
    if let Some(output) = output.filter(|output| !output.is_null()) {
        return Ok(output);
    }

    // The error may also come from an assertion, or mean that there was nothing to check.
    let is_failure = failure.is_none_or(|reason| reason == FAILED_PROVIDER);
    let why = why.filter(|why| !why.is_null());
    match why.or(error.filter(|error| is_failure && !error.is_null())) {
        Some(why) => Err(format!("the provider failed: {}", first_line(&plain_text(&why)))),
        None => Err("the provider gave no output (`null`)".to_owned()),
    }
}

/// Returns what the graders reported about each assertion, or about the whole result if it has none.
fn reasons(grading: PromptfooGrading) -> Value {
    let one = |grading: PromptfooGrading| {
        let mut reported = Map::new();
        let assertion = grading.assertion.unwrap_or_default();
        for key in ["type", "metric", "value"] {
            reported.extend(assertion.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        reported.extend(grading.pass.map(|pass| ("pass".to_owned(), json!(pass))));
        reported.extend(grading.score.map(|score| ("score".to_owned(), score)));
        reported.extend(grading.reason.map(|reason| ("reason".to_owned(), json!(reason))));
        Value::Object(reported)
    };

    let mut grading = grading;
    match grading.component_results.take().filter(|components| !components.is_empty()) {
        Some(components) => components.into_iter().map(one).collect(),
        None => Value::Array(vec![one(grading)]),
    }
}

/// Maximum number of previous tests that are searched for an equal one.
const MAX_COMPARED_TESTS: usize = 1_000;

/// Returns the label of a provider, or its id.
fn provider_name(provider: &Value) -> Option<String> {
    let named = |key: &str| provider.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
    provider.as_str().or_else(|| named("label")).or_else(|| named("id")).map(str::to_owned)
}
