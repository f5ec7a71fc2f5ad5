//! Converts records of other tools to an eval file: their questions, with everything that identifies a good
//! answer.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use assize_evalfile::LoadOptions;
use assize_records::{Record, RecordFormat, read_records};
use serde_json::{Map, Value, json};

use crate::convert::{document_name, keep_variables, write_doc};
use crate::eval_file_builder::{EvalFileBuilder, has_template};
use crate::note::ConversionNotes;
use crate::promptfoo::{self, question_name};
use crate::{ConvertError, ConvertedFile, ExportFormat};

/// Metadata about the answer of a record or about its run, as opposed to its question.
const ANSWER_METADATA: [&str; 13] = [
    "cluster", "cost", "epoch", "eval", "latency_ms", "limit", "model", "prompt", "provider", "reasons",
    "scores", "task", "vars",
];

/// Converts the questions in a file of records. Records about the same question become one case. Their answers
/// are not converted; see [`Record::to_answer`]. With `keep_going`, records that can't be read are losses.
///
/// # Errors
/// If the file or a record in it can't be read, or no record identifies a good answer.
pub fn convert_records(
    path: &Path,
    format: RecordFormat,
    to: ExportFormat,
    keep_going: bool,
    options: &LoadOptions,
) -> Result<ConvertedFile, ConvertError> {
    let file = read_records(path, format)
        .map_err(|error| ConvertError::Unreadable(path.to_path_buf(), error.to_string()))?;
    if !file.problems.is_empty() && !keep_going {
        return Err(ConvertError::BrokenRecords(path.to_path_buf(), file.problems));
    }
    if file.records.is_empty() && file.problems.is_empty() {
        let why = "it has no records, so there is nothing to convert".to_owned();
        return Err(ConvertError::Empty(path.to_path_buf(), why, Vec::new()));
    }

    let mut notes = ConversionNotes::new(path.to_path_buf());
    for problem in &file.problems {
        let line = problem.part.is_none().then_some(problem.line);
        let item = problem.part.as_ref().map_or_else(|| "a record".to_owned(), |part| format!("`{part}`"));
        notes.add_loss(line, item, format!("skipped: {}", problem.why));
    }
    for remark in &file.remarks {
        notes.add_remark(None, format.name(), remark);
    }

    let name = file.name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| document_name(path));
    let mut doc = EvalFileBuilder::with_name(&name);
    let mut seen = HashSet::new();
    let mut answers = 0usize;
    let mut clusters: HashMap<String, Vec<usize>> = HashMap::new();
    let options = &keep_variables(options);
    let graders = promptfoo::graders_of_records(path, &file.records, options, &mut notes);
    for (record, graders) in file.records.iter().zip(&graders) {
        answers += usize::from(record.output.is_ok());
        let question = json!([record.input, record.reference, record.expected_outcome, record.assertions]);
        if seen.insert(question.to_string())
            && let Some(case) = question_case(record, graders, &mut doc, &mut notes)
        {
            if let Some(cluster) = record.metadata.get("cluster").and_then(Value::as_str) {
                clusters.entry(cluster.to_owned()).or_default().push(doc.cases.len());
            }
            doc.cases.push(case);
        }
    }

    // The prompts of one test are separate questions, but not independent of each other.
    for (cluster, cases) in clusters.into_iter().filter(|(_, cases)| cases.len() > 1) {
        for case in cases {
            doc.cases[case]["metadata"]["cluster"] = json!(cluster.replace("${{", "$${{"));
        }
    }
    if answers > 0 {
        notes.add_remark(
            None,
            "answers",
            format!("{answers} are not part of an eval file; `--to cases` writes them"),
        );
    }

    write_doc(path, doc, format.name(), to, options, notes)
}

/// Converts the question of a record to a case. Adds notes about losses, and skips a record without anything to
/// grade by.
fn question_case(
    record: &Record,
    graders: &[Value],
    doc: &mut EvalFileBuilder,
    notes: &mut ConversionNotes,
) -> Option<Value> {
    let wish = question_name(record);
    let item = format!("record `{wish}`");
    let Some(input) = &record.input else {
        notes.add_loss(None, item, "skipped: it has no question");
        return None;
    };

    for kind in &record.left_out {
        notes.add_loss(None, item.clone(), format!("its `{kind}` is not text: the question only names it"));
    }

    let texts = record.assertions.iter().filter(|assertion| assertion.is_string());
    let assertions: Vec<Value> = texts.chain(graders).cloned().collect();

    let mut case = Map::new();
    case.insert("id".to_owned(), json!(wish));
    case.insert("input".to_owned(), input.clone());
    if let Some(reference) = &record.reference {
        case.insert("expected_output".to_owned(), json!(reference));
    }
    match (&record.expected_outcome, &record.reference) {
        (Some(outcome), _) => {
            case.insert("criteria".to_owned(), json!(outcome));
        }
        (None, Some(_)) if assertions.is_empty() => {
            notes.add_remark(
                None,
                "criteria",
                "answers are compared with the reference answer; replace this criterion with your own",
            );
            case.insert("criteria".to_owned(), json!("The answer agrees with the reference answer"));
        }
        (None, None) if assertions.is_empty() => {
            notes.add_loss(None, item, "skipped: it does not say what a good answer is");
            return None;
        }
        _ => {}
    }
    if !assertions.is_empty() {
        // Without a threshold, each assertion has to pass. Plain strings are criteria of a rubric.
        let by_gates = assertions.iter().any(|grader| grader.get("min_score").is_some()).then_some(0.0);
        if let Some(threshold) = record.threshold.filter(|line| (0.0..=1.0).contains(line)).or(by_gates) {
            case.insert("threshold".to_owned(), json!(threshold));
        }
        case.insert("assertions".to_owned(), Value::Array(assertions));
    }
    if !record.files.is_empty() {
        case.insert("input_files".to_owned(), json!(record.files));
    }
    let metadata: Map<String, Value> = record
        .metadata
        .iter()
        .filter(|(key, _)| !ANSWER_METADATA.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !metadata.is_empty() {
        case.insert("metadata".to_owned(), Value::Object(metadata));
    }

    let mut case = Value::Object(case);
    escape_variables(&mut case);
    case["id"] = json!(doc.unique_id(wish));
    if has_template(&case.to_string()) {
        notes.add_remark(
            None,
            item,
            "has template braces, which stay as they are unless a variable of that name is set",
        );
    }

    Some(case)
}

/// Escapes text that would be an environment variable in an eval file.
fn escape_variables(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace("${{", "$${{"),
        Value::Array(items) => items.iter_mut().for_each(escape_variables),
        Value::Object(members) => members.values_mut().for_each(escape_variables),
        _ => {}
    }
}
