//! Given answers, one on each line: the input of grading without a suite.
//!
//! The lines are external data: environment variables are not substituted and no file they name is read.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SpannedValue, did_you_mean};
use serde_json::{Map, Value};

use super::case::DecodedCase;
use super::common::{check_id, decode_tags};
use super::messages::decode_given_output;
use super::suite::SuiteDefaults;
use super::{DecodeContext, MapReader};
use crate::codes;
use crate::model::{
    Case, CaseId, CaseMarks, CaseMessage, MessageRole, OnDependencyFailure, ThresholdOverrides,
};
use crate::tree::{NodeValue, TreeNode};

/// Keys of the answer.
const ANSWER_KEYS: [&str; 2] = ["answer", "output"];

/// Decodes one line. Unknown keys are kept as metadata: answer files have columns of their own.
pub(super) fn decode_answer(
    cx: &mut DecodeContext,
    node: &TreeNode,
    line: usize,
    defaults: &SuiteDefaults,
) -> DecodedCase {
    let before = cx.problems.error_count();
    let nothing = DecodedCase { id: None, case: None, depends_on: Vec::new() };
    let Some(mut object) = MapReader::new(node, "an answer", &mut cx.problems) else { return nothing };
    let head = object.head();
    let id = match object.value("id") {
        None => Some(SpannedValue::new(format!("line-{line}"), head)),
        Some(id) => match &id.data {
            NodeValue::Str(text) => {
                check_id(cx, SpannedValue::new(text.clone(), id.use_span()), "the id of an answer")
            }
            // Numbered rows are common in exported data; the number becomes the id.
            NodeValue::Int(number) => Some(SpannedValue::new(number.to_string(), id.use_span())),
            _ => object.string("id", &mut cx.problems),
        },
    };

    let question =
        object.first_of(&["question", "input"], &mut cx.problems).map(|entry| answer_text(&entry.value));
    let reference = object
        .first_of(&["reference", "expected_output"], &mut cx.problems)
        .map(|entry| answer_text(&entry.value));
    let expected_outcome = object
        .first_of(&["expected_outcome", "criteria"], &mut cx.problems)
        .map(|entry| answer_text(&entry.value));
    let output = if let Some(entry) = object.first_of(&ANSWER_KEYS, &mut cx.problems) {
        decode_given_output(cx, &entry.value, &entry.key)
    } else {
        cx.problems.add(no_answer(node));
        None
    };

    let file_changes = object.string("file_changes", &mut cx.problems).map(|text| text.value);
    let tags = decode_tags(cx, &mut object);
    let mut metadata = match object.value("metadata").map(TreeNode::to_json) {
        Some(Value::Object(metadata)) => metadata,
        Some(other) => Map::from_iter([("metadata".to_owned(), other)]),
        None => Map::new(),
    };
    for entry in object.take_remaining() {
        metadata.insert(entry.key.clone(), entry.value.to_json());
    }

    let sound = cx.problems.error_count() == before;
    let case = id.clone().zip(output).filter(|_| sound).map(|(id, output)| Case {
        id: CaseId::new(id.value),
        place: cx.position(head),
        marks: CaseMarks::default(),
        input: question.into_iter().map(|text| CaseMessage::text(MessageRole::User, text)).collect(),
        expected_outcome,
        expected_output: reference
            .into_iter()
            .map(|text| CaseMessage::text(MessageRole::Assistant, text))
            .collect(),
        output: Some(output),
        graders: defaults.graders.clone(),
        lines: ThresholdOverrides::default(),
        targets: Vec::new(),
        file_changes,
        trials: None,
        tags,
        metadata,
        conversation_id: None,
        vars: std::collections::BTreeMap::new(),
        conversation: None,
        depends_on: Vec::new(),
        on_dependency_failure: OnDependencyFailure::default(),
        workspace: None,
        unbuilt: Vec::new(),
    });
    DecodedCase { id, case: case.map(Arc::new), depends_on: Vec::new() }
}

fn answer_text(node: &TreeNode) -> String {
    match node.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string_pretty(&node.to_json()).unwrap_or_default(),
    }
}

fn no_answer(node: &TreeNode) -> Diagnostic {
    let entries = node.as_map().unwrap_or_default();
    let place = entries.first().map_or(node.use_span(), |entry| entry.key_span);
    let diagnostic =
        Diagnostic::error(codes::NO_ANSWER, "this line has no answer", place, "no `answer` in this object");
    let near = entries.iter().find(|entry| did_you_mean(&entry.key, ANSWER_KEYS).is_some());
    match near {
        Some(entry) => diagnostic
            .with_help(format!("is it `{}`? Then rename that key", entry.key))
            .with_suggestion("rename the key", entry.key_span, "answer"),
        None => diagnostic.with_help("put the text to grade under `answer` (or `output`)"),
    }
}
