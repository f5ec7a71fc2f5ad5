//! Converts assertions in stored results to the graders that the same assertions in a configuration would
//! become.

use std::path::Path;

use assize_evalfile::{LoadOptions, LoweredSuite};
use assize_promptfoo::lower_matrix_text;
use assize_records::Record;
use serde_json::{Value, json};

use crate::note::ConversionNotes;

/// Returns the graders of each record, for all assertions except plain strings. Adds notes about assertions
/// that can't be converted.
pub(crate) fn graders_of_records(
    path: &Path,
    records: &[Record],
    options: &LoadOptions,
    notes: &mut ConversionNotes,
) -> Vec<Vec<Value>> {
    let mut graders: Vec<Vec<Value>> = vec![Vec::new(); records.len()];
    let mut owners = Vec::new();
    let mut tests = Vec::new();
    for (owner, record) in records.iter().enumerate() {
        for assertion in record.assertions.iter().filter(|assertion| !assertion.is_string()) {
            tests.push(test_of(record, assertion, owners.len()).to_string());
            owners.push(owner);
        }
    }
    if tests.is_empty() {
        return graders;
    }

    // Write one test per assertion and one line per test, so that the line of a diagnostic identifies the
    // assertion.
    let text = format!("{{\"prompts\":[\"-\"],\"tests\":[\n{}\n]}}", tests.join(",\n"));
    let config = path.with_file_name("promptfooconfig.json");
    let (_, LoweredSuite { cases, losses, .. }) = lower_matrix_text(&config, &text, options);
    for mut case in cases {
        let owner = case["id"].as_str().and_then(|id| owners.get(id.parse::<usize>().ok()?).copied());
        if let (Some(owner), Some(found)) = (owner, case["assertions"].as_array_mut()) {
            graders[owner].append(found);
        }
    }
    for loss in losses {
        let owner = loss.place.line.checked_sub(2).and_then(|test| owners.get(test));
        if let Some(record) = owner.and_then(|owner| records.get(*owner)) {
            notes.add_loss(
                None,
                format!("record `{}`", question_name(record)),
                format!("{}: {}", loss.item, loss.what),
            );
        }
    }

    graders
}

/// Returns a test with a single assertion of a record. Its id is its number.
fn test_of(record: &Record, assertion: &Value, number: usize) -> Value {
    let mut vars = record.metadata.get("vars").cloned().unwrap_or_else(|| json!({}));
    if let Some(vars) = vars.as_object_mut() {
        // If a variable came from a text file, its value is already the content. A path means another kind of
        // file, such as an image.
        vars.retain(|_, value| !value.as_str().is_some_and(|text| text.starts_with("file://")));
    }
    let mut test = json!({
        "id": number.to_string(), "vars": vars, "assert": [assertion], "options": {"disableVarExpansion": true},
    });
    if let Some(threshold) = record.threshold {
        test["threshold"] = json!(threshold);
    }

    test
}

/// Returns the name of a record's question, which all results of one test share.
pub(crate) fn question_name(record: &Record) -> &str {
    record.metadata.get("cluster").and_then(Value::as_str).unwrap_or(&record.id)
}
