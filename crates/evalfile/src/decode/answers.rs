//! Given answers, one per line or row: the input for grading without a suite.
//!
//! The lines are external data. Environment variables are not substituted in them, and files that they name are
//! not read.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapEntry, MapReader, NodeValue, TreeNode, codes};
use assize_model::{Case, CaseId, GivenOutput};
use assize_rubric::{CaseMessage, MessageRole, composed_name, numbered_case_id};
use serde_json::{Map, Value};

use super::DecodeContext;
use super::answer_columns::{
    ANSWER, AnswerColumns, CLUSTERS, ColumnUse, EXPECTED_OUTCOME, METADATA, QUESTION, REFERENCE, field_of,
    two_columns, unknown_column,
};
use super::answer_table::{AnswerFormat, meant_columns, missing_column};
use super::case::DecodedCase;
use super::common::{check_id, decode_tags};
use super::messages::decode_given_output;
use super::suite::SuiteDefaults;

/// Decodes a line of JSON or a row of a table.
pub(super) fn decode_answer(
    cx: &mut DecodeContext,
    node: TreeNode,
    row: usize,
    defaults: &SuiteDefaults,
    format: &AnswerFormat,
) -> DecodedCase {
    let before = cx.problems.error_count();
    let nothing = DecodedCase { id: None, case: None, depends_on: Vec::new() };
    // The columns of a table were checked when its header was read.
    let (node, extra) = match format.table {
        Some(_) => (node, Map::new()),
        None => apply_columns(cx, node, &format.columns),
    };
    let Some(mut object) = MapReader::new(&node, "an answer", &mut cx.problems) else { return nothing };
    let head = object.head();
    let id = match object.value("id") {
        None => Some(SpannedValue::new(numbered_case_id(row), head)),
        Some(id) => match &id.data {
            NodeValue::Str(text) => {
                check_id(cx, SpannedValue::new(text.clone(), id.use_span()), "the id of an answer")
            }
            // Numbered rows are common in exported data; the number becomes the id.
            NodeValue::Int(number) => Some(SpannedValue::new(number.to_string(), id.use_span())),
            _ => object.string("id", &mut cx.problems),
        },
    };

    let mut optional_text = |keys: &[&'static str]| {
        object.first_of(keys, &mut cx.problems).and_then(|entry| answer_text(&entry.value))
    };
    let question = optional_text(QUESTION);
    let reference = optional_text(REFERENCE);
    let expected_outcome = optional_text(EXPECTED_OUTCOME);
    let output = decode_output(cx, &mut object);

    let file_changes = object.string("file_changes", &mut cx.problems).map(|text| text.value);
    let tags = decode_tags(cx, &mut object);
    let mut metadata = match object.value(METADATA).map(TreeNode::to_json) {
        Some(Value::Object(metadata)) => metadata,
        Some(other) => Map::from_iter([(METADATA.to_owned(), other)]),
        None => Map::new(),
    };
    metadata.extend(extra);
    let cluster = |key: &'static str| Some((key.to_owned(), object.value(key)?.to_json()));
    metadata.extend(CLUSTERS.into_iter().filter_map(cluster));

    object.finish(&mut cx.problems);
    if output.is_none() && cx.problems.error_count() == before {
        cx.problems.add(no_answer(head));
    }

    let is_valid = cx.problems.error_count() == before;
    let case = id.clone().zip(output).filter(|_| is_valid).map(|(id, output)| Case {
        input: question.into_iter().map(|text| CaseMessage::text(MessageRole::User, text)).collect(),
        expected_outcome,
        expected_output: reference
            .into_iter()
            .map(|text| CaseMessage::text(MessageRole::Assistant, text))
            .collect(),
        output: Some(output),
        file_changes,
        tags,
        metadata,
        ..Case::new(CaseId::new(id.value), cx.position(head), defaults.graders.clone())
    });
    DecodedCase { id, case: case.map(Arc::new), depends_on: Vec::new() }
}

/// Reads the answer itself. An empty list or map is an empty answer, not the text of its brackets.
fn decode_output(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GivenOutput> {
    let entry = object.first_of(ANSWER, &mut cx.problems)?;
    let output = decode_given_output(cx, &entry.value, &entry.key)?;
    let is_empty = match &output {
        GivenOutput::Json(Value::Object(members)) => members.is_empty(),
        GivenOutput::Json(Value::Array(items)) => items.is_empty(),
        _ => false,
    };

    Some(if is_empty { GivenOutput::Text(String::new()) } else { output })
}

/// Renames the entries of an object to the keys of their fields, and moves metadata out of it. Reports keys
/// that are not read, fields that are given twice, and named columns that are missing.
fn apply_columns(
    cx: &mut DecodeContext,
    node: TreeNode,
    columns: &AnswerColumns,
) -> (TreeNode, Map<String, Value>) {
    let TreeNode { span, used_at, data } = node;
    let NodeValue::Map(entries) = data else { return (TreeNode { span, used_at, data }, Map::new()) };
    let composed = |entry: MapEntry| MapEntry { key: composed_name(entry.key), ..entry };
    let entries: Vec<MapEntry> = entries.into_iter().map(composed).collect();
    let head = entries.first().map_or(span, |entry| entry.key_span);
    let names: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();

    for column in
        columns.given().map(|(column, _)| column).filter(|column| !names.iter().any(|name| name == column))
    {
        cx.problems.add(missing_column(column, names.iter().map(String::as_str), head));
    }

    let given = columns.given().map(|(column, _)| column);
    let meant = meant_columns(given, names.iter().map(String::as_str));
    let mut kept: Vec<MapEntry> = Vec::with_capacity(entries.len());
    let mut fields: Vec<(&'static str, String, Span)> = Vec::new();
    let mut metadata = Map::new();
    for entry in entries {
        match columns.use_of(&entry.key, &entry.key) {
            ColumnUse::Ignored => {}
            ColumnUse::Metadata => {
                metadata.insert(entry.key, entry.value.to_json());
            }
            // Already suggested in the diagnostic about the name on the command line.
            ColumnUse::Unknown if meant.contains(&entry.key.as_str()) => {}
            ColumnUse::Unknown => {
                cx.problems.add(unknown_column(&entry.key, "key", entry.key_span, columns, None));
            }
            ColumnUse::Field(key) => {
                let field = field_of(key).unwrap_or(key);
                if let Some((_, other, at)) = fields.iter().find(|(known, ..)| *known == field) {
                    cx.problems.add(two_columns((other, *at), (&entry.key, entry.key_span), field));
                } else {
                    fields.push((field, entry.key.clone(), entry.key_span));
                    kept.push(MapEntry { key: key.to_owned(), ..entry });
                }
            }
        }
    }

    (TreeNode { span, used_at, data: NodeValue::Map(kept) }, metadata)
}

/// Returns a value as text; `None` if it has no content.
fn answer_text(node: &TreeNode) -> Option<String> {
    match node.as_str() {
        Some(text) if text.trim().is_empty() => None,
        Some(text) => Some(text.to_owned()),
        None if node.is_null() => None,
        None => serde_json::to_string_pretty(&node.to_json()).ok(),
    }
}

fn no_answer(place: Span) -> Diagnostic {
    Diagnostic::error(codes::NO_ANSWER, "this line has no answer")
        .at(place, "no `answer` in this object")
        .with_help("put the text to grade under `answer`, or name its key: `--columns answer=KEY`")
}
