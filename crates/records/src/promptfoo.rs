//! Results of promptfoo (`promptfoo eval -o results.json`): a document, or JSON lines.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::text::{is_lines, question, read_json, read_lines};
use crate::{Record, RecordError, RecordFile, RecordFormat};

#[derive(Deserialize)]
struct PromptfooFile {
    results: PromptfooSummary,
    config: Option<PromptfooConfig>,
}

#[derive(Deserialize)]
struct PromptfooSummary {
    results: Vec<PromptfooResult>,
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
    success: Option<bool>,
    score: Option<Value>,
    named_scores: Option<Map<String, Value>>,
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
        read_lines(bytes).map(|line| line.map(|(_, result)| result)).collect::<Result<_, _>>()?
    } else {
        let document: PromptfooFile = read_json(bytes, "the results")?;
        file.name = document.config.and_then(|config| config.description);
        document.results.results
    };

    // Results stand in the order in which they ended.
    results.sort_by_key(|result| (result.test_idx, result.prompt_idx));
    let mut questions: Vec<(Value, String)> = Vec::new();
    let several = results.iter().any(|result| result.prompt_idx.unwrap_or(0) > 0);
    for result in results {
        let record = record(result, several, &mut questions);
        file.records.push(record);
    }

    Ok(file)
}

/// Returns a result as a record. `questions` holds the id of each test so far, by what makes it that test: repeats of a test
/// have an index of their own.
fn record(result: PromptfooResult, several: bool, questions: &mut Vec<(Value, String)>) -> Record {
    let test = result.test_case.unwrap_or_default();
    let vars = result.vars.unwrap_or_default();
    let key = json!([test.description, vars]);
    let known =
        questions.iter().rev().take(MAX_LOOK_BACK).find(|(known, _)| *known == key).map(|(_, id)| id.clone());
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
    let (output, why) = result.response.map_or((None, None), |response| (response.output, response.error));
    record.output = match output {
        Some(output) if !output.is_null() => Ok(output),
        _ => match why.or(result.error).filter(|why| !why.is_null()) {
            Some(why) => Err(format!("the provider failed: {}", short_text(&why))),
            None => Err("it holds no output".to_owned()),
        },
    };
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
    for (key, value) in test.metadata.unwrap_or_default() {
        record.add_metadata(&key, value);
    }

    record
}

/// Maximum number of tests among which an equal one is looked for.
const MAX_LOOK_BACK: usize = 1_000;

/// Returns the label of a provider, or its id.
fn provider_name(provider: &Value) -> Option<String> {
    let named = |key: &str| provider.get(key).and_then(Value::as_str).filter(|name| !name.is_empty());
    provider.as_str().or_else(|| named("label")).or_else(|| named("id")).map(str::to_owned)
}

fn short_text(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
