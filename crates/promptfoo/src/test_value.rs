//! Tests as JSON, as functions get them, and back again.

use std::path::Path;

use assize_document::{MapEntry, TreeNode, read_json_in};
use assize_evalfile::reading::DecodeContext;
use assize_rubric::json_equal;
use serde_json::{Map, Value};

use super::matrix_test::MatrixTest;
use super::test_entries::TestReader;
/// Keys of a test that are read. An extension may add other keys for its own use.
const TEST_KEYS: [&str; 16] = [
    "assert", "assertScoringFunction", "conversation_id", "criteria", "depends_on", "description",
    "disableDefaultAsserts", "id", "metadata", "options", "prompts", "provider", "providerOutput",
    "providers", "threshold", "vars",
];

/// Returns a test as JSON.
pub(super) fn test_value(test: &MatrixTest) -> Value {
    let names = |all: &[assize_diagnostic::SpannedValue<String>]| -> Option<Value> {
        (!all.is_empty()).then(|| all.iter().map(|name| name.value.as_str()).collect())
    };
    let options = options_value(test);
    let parts = [
        ("id", test.id.as_ref().map(|id| Value::from(id.value.as_str()))),
        ("description", test.description.as_deref().map(Value::from)),
        ("vars", Some(object_of(&test.vars))),
        (
            "assert",
            (!test.assertions.is_empty()).then(|| test.assertions.iter().map(TreeNode::to_json).collect()),
        ),
        ("assertScoringFunction", test.scoring.as_ref().map(|scoring| scoring.value.as_str().into())),
        ("threshold", test.threshold.as_ref().map(|threshold| threshold.value.into())),
        ("metadata", (!test.metadata.is_empty()).then(|| object_of(&test.metadata))),
        ("prompts", names(&test.prompts)),
        ("providers", names(&test.providers)),
        ("providerOutput", test.output.as_ref().map(TreeNode::to_json)),
        ("disableDefaultAsserts", test.skip_defaults.then_some(Value::Bool(true))),
        ("options", (!options.is_empty()).then_some(Value::Object(options))),
    ];
    let own = test.case_keys.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
    let known = parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?)));
    Value::Object(known.chain(own).collect())
}

/// Returns a test, merged with the default test, as JSON. Missing maps and lists are empty, so that a function may add
/// to them.
pub(super) fn merged_value(test: &MatrixTest) -> Value {
    let mut value = test_value(test);
    if let Value::Object(keys) = &mut value {
        keys.entry("assert").or_insert_with(|| Value::Array(Vec::new()));
        for key in ["options", "metadata"] {
            keys.entry(key).or_insert_with(|| Value::Object(Map::new()));
        }
    }
    value
}

fn options_value(test: &MatrixTest) -> Map<String, Value> {
    let options = &test.options;
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let code = |code: &Option<assize_diagnostic::SpannedValue<String>>| {
        code.as_ref().map(|code| Value::from(code.value.as_str()))
    };
    let parts = [
        ("provider", options.judge.as_ref().map(TreeNode::to_json)),
        ("transform", code(&options.transform)),
        ("transformVars", code(&options.transform_vars)),
        ("rubricPrompt", options.rubric_prompt.as_ref().map(TreeNode::to_json)),
        ("prefix", text(&options.prefix)),
        ("suffix", text(&options.suffix)),
        ("disableVarExpansion", options.disable_expansion.then_some(Value::Bool(true))),
    ];
    parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?))).collect()
}

fn object_of(entries: &[MapEntry]) -> Value {
    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>().into()
}

/// Reads a test that a function returned. Unchanged parts keep their spans in the file. A new test has none. Returns
/// `None` after adding a diagnostic.
pub(super) fn read_changed_test(
    cx: &mut DecodeContext,
    reader: &TestReader,
    original: Option<&MatrixTest>,
    changed: &Value,
    shown: &Path,
    what: &'static str,
) -> Option<MatrixTest> {
    let sent = original.map(merged_value).unwrap_or_default();
    if let Some(original) = original
        && (json_equal(&sent, changed) || json_equal(&test_value(original), changed))
    {
        return Some(original.clone());
    }

    // References of a test are relative to the file that it is written in.
    let home = original.and_then(|test| test.head).map(|head| cx.folder_of(head.source));
    let shown = match (home, shown.file_name()) {
        (Some(home), Some(name)) => home.join(name),
        _ => shown.to_path_buf(),
    };
    let text = with_known_keys(changed, &sent).to_string();
    let length = text.len();
    let source = cx.sources.add(shown, text);
    let root = read_json_in(&cx.sources, source, 0..length, &mut cx.problems)?;
    let mut read = reader.read_test(cx, &root, what)?;

    if let Some(original) = original {
        keep_unchanged(&mut read, original, &sent, changed);
    }
    Some(read)
}

fn with_known_keys(changed: &Value, sent: &Value) -> Value {
    let Value::Object(keys) = changed else { return changed.clone() };
    let is_known = |key: &str| TEST_KEYS.contains(&key) || sent.get(key).is_some();
    keys.iter()
        .filter(|(key, _)| is_known(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

/// Restores the unchanged parts of a test, because their spans distinguish judges and determine the folder of
/// references.
fn keep_unchanged(read: &mut MatrixTest, original: &MatrixTest, sent: &Value, changed: &Value) {
    let is_same = |key: &str| match (sent.get(key), changed.get(key)) {
        (Some(sent), Some(changed)) => json_equal(sent, changed),
        (sent, changed) => sent.is_none() && changed.is_none(),
    };
    let keep_entries = |read: &mut Vec<MapEntry>, original: &[MapEntry]| {
        for entry in read {
            let is_same = |known: &&MapEntry| {
                known.key == entry.key && json_equal(&known.value.to_json(), &entry.value.to_json())
            };
            if let Some(known) = original.iter().find(is_same) {
                *entry = known.clone();
            }
        }
    };

    read.head = original.head;
    keep_entries(&mut read.vars, &original.vars);
    keep_entries(&mut read.metadata, &original.metadata);
    for node in &mut read.assertions {
        let written = node.to_json();
        if let Some(known) = original.assertions.iter().find(|known| json_equal(&known.to_json(), &written)) {
            *node = known.clone();
        }
    }
    if is_same("id") {
        read.id.clone_from(&original.id);
    }
    if is_same("options") {
        read.options = original.options.clone();
    } else if let (Some(judge), Some(known)) = (&read.options.judge, &original.options.judge)
        && json_equal(&judge.to_json(), &known.to_json())
    {
        read.options.judge = Some(known.clone());
    }
    if is_same("threshold") {
        read.threshold.clone_from(&original.threshold);
        read.has_own_threshold = original.has_own_threshold;
    }
    if is_same("assert") {
        read.assert_span = original.assert_span;
    }
    if is_same("providerOutput") {
        read.output.clone_from(&original.output);
    }
    read.input.clone_from(&original.input);
}
