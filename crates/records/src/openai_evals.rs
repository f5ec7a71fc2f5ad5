//! OpenAI's evals: logs of events (`oaieval --record_path`), and datasets of samples with `input` and `ideal`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::text::{any_of, question, read_lines, texts};
use crate::{Record, RecordFile, RecordFormat, RecordProblem};

/// A line of a log or dataset.
#[derive(Deserialize)]
struct EvalsLine {
    spec: Option<EvalsSpec>,
    sample_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    data: Option<Value>,
    input: Option<Value>,
    ideal: Option<Value>,
    final_report: Option<Value>,
}

#[derive(Deserialize)]
struct EvalsSpec {
    eval_name: Option<String>,
    completion_fns: Option<Vec<String>>,
}

/// Reads a log or dataset.
pub(crate) fn read_samples(bytes: &[u8]) -> RecordFile {
    let mut file = RecordFile::new(RecordFormat::OpenAiEvals, None);
    let mut model = None;
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut asked_again = 0usize;
    let mut strange = Vec::new();
    for (number, line) in read_lines::<EvalsLine>(bytes, &mut file.problems) {
        if let Some(spec) = line.spec {
            file.name = spec.eval_name;
            model = spec.completion_fns.map(|names| names.join(", "));
        } else if let (Some(id), Some(kind), Some(data)) = (line.sample_id, line.kind, line.data) {
            let place = *places.entry(id.clone()).or_insert_with(|| {
                file.records.push(Record::new(id, "the log holds no completion for it"));
                file.records.len() - 1
            });
            asked_again += usize::from(add_event(&mut file.records[place], &kind, data));
        } else if let Some(input) = line.input {
            let mut record = Record::new(format!("line-{number}"), "data sets hold no answers");
            record.input = question(input);
            record.reference = line.ideal.and_then(|ideal| any_of(&texts(&ideal)));
            file.records.push(record);
        } else if line.final_report.is_none() {
            let why = "it is not an event of a sample, and has no `input`".to_owned();
            strange.push(RecordProblem::at_line(number, why));
        }
    }
    file.problems.append(&mut strange);
    file.problems.sort_by_key(|problem| problem.line);

    file.records.sort_by_cached_key(|record| sample_key(&record.id));
    for record in &mut file.records {
        record.add_metadata("eval", file.name.as_deref().unwrap_or_default());
        record.add_metadata("model", model.as_deref().unwrap_or_default());
    }
    if asked_again > 0 {
        file.remarks.push(format!(
            "{asked_again} further completions were not read: the first one of a sample is its answer"
        ));
    }

    file
}

/// Returns a sort key for the id of a sample, so that `eval.test.10` comes after `eval.test.9`. The lines of a
/// dataset keep their order.
fn sample_key(id: &str) -> (String, u64) {
    let (name, number) = id.split_at(id.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    (name.to_owned(), number.parse().unwrap_or(u64::MAX))
}

/// Adds an event to its sample. Returns true if it is a completion and the sample already has one.
fn add_event(record: &mut Record, kind: &str, data: Value) -> bool {
    let Value::Object(mut data) = data else { return false };
    match kind {
        "sampling" => {
            if record.output.is_ok() {
                return true;
            }
            record.input = record.input.take().or_else(|| data.remove("prompt").and_then(question));
            let sampled = data.remove("sampled").unwrap_or_default();
            // Completion functions return a list of completions. The first one is used.
            record.output = match texts(&sampled).into_iter().next() {
                Some(text) => Ok(Value::String(text)),
                None => Err("its completion is empty".to_owned()),
            };
        }
        "raw_sample" => {
            record.input = record.input.take().or_else(|| data.remove("input").and_then(question));
            let ideal = data.remove("ideal").unwrap_or_default();
            record.reference = record.reference.take().or_else(|| any_of(&texts(&ideal)));
        }
        "match" => {
            let expected = data.remove("expected").unwrap_or_default();
            record.reference = record.reference.take().or_else(|| any_of(&texts(&expected)));
            let kept =
                ["correct", "picked"].iter().filter_map(|key| Some(((*key).to_owned(), data.remove(*key)?)));
            record.add_metadata("scores", kept.collect::<Map<_, _>>());
        }
        "metrics" => {
            let scores = data.into_iter().filter(|(_, value)| !value.is_object() && !value.is_array());
            record.add_metadata("scores", scores.collect::<Map<_, _>>());
        }
        "error" => {
            let why = data.get("message").or_else(|| data.get("error")).and_then(Value::as_str);
            if record.output.is_err() {
                record.output = Err(format!("it ended in an error: {}", why.unwrap_or("without a message")));
            }
        }
        _ => {}
    }

    false
}
