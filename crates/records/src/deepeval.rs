//! Data sets of DeepEval: goldens and test cases, with one turn or a conversation.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::text::{is_lines, read_json, read_lines};
use crate::{Record, RecordError, RecordFile, RecordFormat};

#[derive(Deserialize)]
struct DeepEvalGolden {
    name: Option<String>,
    input: Option<String>,
    actual_output: Option<String>,
    expected_output: Option<String>,
    context: Option<Value>,
    retrieval_context: Option<Value>,
    tools_called: Option<Vec<DeepEvalToolCall>>,
    expected_tools: Option<Vec<DeepEvalToolCall>>,
    additional_metadata: Option<Value>,
    custom_column_key_values: Option<Value>,
    comments: Option<String>,
    scenario: Option<String>,
    expected_outcome: Option<String>,
    user_description: Option<String>,
    turns: Option<Vec<DeepEvalTurn>>,
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
    tools_called: Option<Vec<DeepEvalToolCall>>,
}

/// Reads a data set: a list, or JSON lines.
pub(crate) fn read_dataset(bytes: &[u8]) -> Result<RecordFile, RecordError> {
    let goldens: Vec<DeepEvalGolden> = if is_lines(bytes) || bytes.trim_ascii_start().starts_with(b"{") {
        read_lines(bytes).map(|line| line.map(|(_, golden)| golden)).collect::<Result<_, _>>()?
    } else {
        read_json(bytes, "the data set")?
    };
    let mut file = RecordFile::new(RecordFormat::DeepEval, None);
    file.records = goldens.into_iter().enumerate().map(|(index, golden)| record(index, golden)).collect();

    if file.records.iter().any(|record| record.metadata.contains_key("retrieval_context")) {
        file.remarks.push(
            "`context` and `retrieval_context` are kept as metadata: judges do not see them".to_owned(),
        );
    }
    Ok(file)
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
    if let Some(text) = golden.actual_output {
        record.output = Ok(answer(text, calls));
    } else if !calls.is_empty() {
        record.output = Ok(answer(String::new(), calls));
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
    for more in [golden.additional_metadata, golden.custom_column_key_values] {
        if let Some(Value::Object(members)) = more {
            members.into_iter().for_each(|(key, value)| record.add_metadata(&key, value));
        }
    }

    record
}

/// Returns an answer: its text, or a message if it came with tool calls.
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

/// Takes a conversation: the last turn of the assistant is the answer, what was said before it the question.
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
