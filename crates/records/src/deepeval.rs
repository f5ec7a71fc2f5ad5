//! Datasets of DeepEval: goldens and test cases, with a single turn or a conversation.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::text::{document, is_lines, read_frame, read_lines, read_members};
use crate::{Record, RecordError, RecordFile, RecordFormat};

#[derive(Deserialize)]
struct DeepEvalGolden {
    name: Option<String>,
    input: Option<String>,
    #[serde(alias = "actualOutput")]
    actual_output: Option<String>,
    #[serde(alias = "expectedOutput")]
    expected_output: Option<String>,
    context: Option<Value>,
    #[serde(alias = "retrievalContext")]
    retrieval_context: Option<Value>,
    #[serde(alias = "toolsCalled")]
    tools_called: Option<Vec<DeepEvalToolCall>>,
    #[serde(alias = "expectedTools")]
    expected_tools: Option<Vec<DeepEvalToolCall>>,
    #[serde(alias = "metadata")]
    additional_metadata: Option<Value>,
    custom_column_key_values: Option<Value>,
    comments: Option<String>,
    scenario: Option<String>,
    #[serde(alias = "expectedOutcome")]
    expected_outcome: Option<String>,
    #[serde(alias = "userDescription")]
    user_description: Option<String>,
    turns: Option<Vec<DeepEvalTurn>>,
    /// Results of metrics, in a test run.
    #[serde(rename = "metricsData")]
    metrics: Option<Vec<DeepEvalMetric>>,
}

#[derive(Deserialize)]
struct DeepEvalMetric {
    name: String,
    score: Option<f64>,
    reason: Option<String>,
}

/// A test run, either alone or in the file in which DeepEval keeps the latest one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeepEvalTestRun<'t> {
    #[serde(borrow)]
    test_run_data: Option<Box<DeepEvalTestRun<'t>>>,
    #[serde(borrow, default)]
    test_cases: Vec<&'t RawValue>,
    #[serde(borrow, default)]
    conversational_test_cases: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
struct DeepEvalToolCall {
    name: String,
    #[serde(alias = "inputParameters")]
    input_parameters: Option<Value>,
    output: Option<Value>,
}

#[derive(Deserialize)]
struct DeepEvalTurn {
    role: String,
    content: Option<String>,
    #[serde(alias = "toolsCalled")]
    tools_called: Option<Vec<DeepEvalToolCall>>,
}

/// A golden that has a question, an answer, or both.
#[derive(Deserialize)]
#[serde(try_from = "DeepEvalGolden")]
struct GoldenRow(DeepEvalGolden);

impl TryFrom<DeepEvalGolden> for GoldenRow {
    type Error = &'static str;

    fn try_from(golden: DeepEvalGolden) -> Result<Self, Self::Error> {
        let texts = [&golden.input, &golden.actual_output, &golden.scenario];
        if golden.turns.is_none() && texts.iter().all(|text| text.is_none()) {
            return Err("it has no `input`, `actual_output`, `scenario` or `turns`");
        }
        Ok(Self(golden))
    }
}

/// Reads a dataset (a JSON list or JSON lines), or a test run.
pub(crate) fn read_dataset(bytes: &[u8]) -> Result<RecordFile, RecordError> {
    let mut file = RecordFile::new(RecordFormat::DeepEval, None);
    let rows: Vec<GoldenRow> = if let Some(depth) = test_run_depth(bytes) {
        let text = document(bytes, depth, &mut file.problems)?;
        let mut run: DeepEvalTestRun<'_> = read_frame(&text)?;
        if let Some(inner) = run.test_run_data.take() {
            run = *inner;
        }
        let mut members = run.test_cases;
        members.extend(run.conversational_test_cases);
        members.sort_by_key(|member| member.get().as_ptr().addr());
        read_members(&text, &members, &mut file.problems)
    } else if is_lines(bytes) || bytes.trim_ascii_start().starts_with(b"{") {
        read_lines(bytes, &mut file.problems).map(|(_, row)| row).collect()
    } else {
        let text = document(bytes, 1, &mut file.problems)?;
        read_members(&text, &read_frame::<Vec<&RawValue>>(&text)?, &mut file.problems)
    };
    let rows = rows.into_iter().enumerate();
    file.records = rows.map(|(index, GoldenRow(golden))| record(index, golden)).collect();

    if file.records.iter().any(|record| record.metadata.contains_key("retrieval_context")) {
        file.remarks.push(
            "`context` and `retrieval_context` are kept as metadata: judges do not see them".to_owned(),
        );
    }
    Ok(file)
}

/// Returns the depth of the list of cases if a document is a test run.
fn test_run_depth(bytes: &[u8]) -> Option<usize> {
    let start: String = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).split_whitespace().collect();
    let begins = |key: &str| start.trim_start_matches('\u{feff}').starts_with(&format!("{{\"{key}\":"));

    if begins("testRunData") { Some(3) } else { begins("testCases").then_some(2) }
}

fn record(index: usize, golden: DeepEvalGolden) -> Record {
    let id =
        golden.name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| format!("golden-{}", index + 1));
    let mut record = Record::new(id, "it has no `actual_output`");
    record.input = golden
        .input
        .or_else(|| golden.scenario.clone())
        .filter(|text| !text.trim().is_empty())
        .map(Value::from);
    record.reference = golden.expected_output.filter(|text| !text.trim().is_empty());
    record.expected_outcome = golden.expected_outcome.filter(|text| !text.trim().is_empty());
    let calls = golden.tools_called.unwrap_or_default();
    if golden.actual_output.is_some() || !calls.is_empty() {
        record.output = Ok(answer(golden.actual_output.unwrap_or_default(), calls));
    }
    if let Some(turns) = golden.turns.filter(|turns| !turns.is_empty()) {
        take_turns(&mut record, turns);
    }

    record.add_metadata("context", golden.context.unwrap_or_default());
    record.add_metadata("retrieval_context", golden.retrieval_context.unwrap_or_default());
    let expected = golden.expected_tools.unwrap_or_default();
    record.add_metadata("expected_tools", expected.into_iter().map(|call| call.name).collect::<Vec<_>>());
    record.add_metadata("scenario", golden.scenario.unwrap_or_default());
    record.add_metadata("user_description", golden.user_description.unwrap_or_default());
    record.add_metadata("comments", golden.comments.unwrap_or_default());
    let metrics = golden.metrics.unwrap_or_default();
    let scores = metrics.iter().filter_map(|metric| Some((metric.name.clone(), json!(metric.score?))));
    record.add_metadata("scores", scores.collect::<Map<_, _>>());
    let reasons =
        metrics.iter().filter_map(|metric| Some((metric.name.clone(), json!(metric.reason.as_ref()?))));
    record.add_metadata("reasons", reasons.collect::<Map<_, _>>());
    for more in [golden.additional_metadata, golden.custom_column_key_values] {
        if let Some(Value::Object(members)) = more {
            members.into_iter().for_each(|(key, value)| record.add_metadata(&key, value));
        }
    }

    record
}

/// Returns an answer: its text, or a message if there were tool calls.
fn answer(text: String, calls: Vec<DeepEvalToolCall>) -> Value {
    if calls.is_empty() { Value::String(text) } else { json!([message("assistant", text, calls)]) }
}

fn message(role: &str, text: String, calls: Vec<DeepEvalToolCall>) -> Value {
    let mut message = json!({"role": role, "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls
            .into_iter()
            .map(|call| {
                let mut made = Map::from_iter([("tool".to_owned(), json!(call.name))]);
                made.extend(call.input_parameters.map(|input| ("input".to_owned(), input)));
                made.extend(call.output.map(|output| ("output".to_owned(), output)));
                Value::Object(made)
            })
            .collect();
    }

    message
}

/// Adds a conversation. The assistant's last turn is the answer, and the turns before it are the question.
fn take_turns(record: &mut Record, turns: Vec<DeepEvalTurn>) {
    let last = turns.iter().rposition(|turn| turn.role == "assistant");
    let mut before = Vec::new();
    for (index, turn) in turns.into_iter().enumerate() {
        let (text, calls) = (turn.content.unwrap_or_default(), turn.tools_called.unwrap_or_default());
        match last {
            Some(last) if index == last => record.output = Ok(answer(text, calls)),
            Some(last) if index > last => {}
            _ => before.push(message(&turn.role, text, calls)),
        }
    }
    if !before.is_empty() {
        record.input = Some(Value::Array(before));
    }
}
