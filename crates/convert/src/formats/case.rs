//! Converts cases between the two formats of eval files.

use assize_model::EvalFileFormat;
use serde_json::{Map, Value, json};

use super::FormatDirection;
use super::criterion::convert_criteria;
use super::direction::LineOf;
use super::grader::{add_names, convert_graders};
use crate::note::ConversionNotes;

const GRADER_LIST_KEYS: [&str; 3] = ["assertions", "assert", "evaluators"];

/// Returns the JSON pointer, relative to the case, of its own list of graders.
pub(super) fn own_list_pointer(case: &Value) -> Option<String> {
    let map = case.as_object()?;
    let outer = GRADER_LIST_KEYS.iter().find(|key| map.contains_key(**key)).map(|key| format!("/{key}"));
    let inner = || {
        let execution = map.get("execution")?.as_object()?;
        GRADER_LIST_KEYS
            .iter()
            .find(|key| execution.contains_key(**key))
            .map(|key| format!("/execution/{key}"))
    };
    outer.or_else(inner)
}

/// Converts a case. `shared` are graders of the suite that the case must list itself now.
pub(super) fn convert_case(
    value: &Value,
    direction: FormatDirection,
    shared: Option<&[Value]>,
    pointer: &str,
    line: LineOf<'_>,
    notes: &mut ConversionNotes,
) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let own = own_list_pointer(value);
    let listed =
        own.as_ref().and_then(|own| value.pointer(own).map(|list| (list, format!("{pointer}{own}"))));
    let own_graders = listed.map(|(list, at)| convert_graders(list, direction, &at, line, notes));
    let skips = value.pointer("/execution/skip_defaults") == Some(&json!(true));
    let mut list = match (own_graders, shared) {
        (own, None) => own.unwrap_or_default(),
        (Some(own), Some(_)) if direction.from == EvalFileFormat::One || skips => own,
        (own, Some(_)) if skips => own.unwrap_or_default(),
        (own, Some(shared)) => own.unwrap_or_default().into_iter().chain(shared.iter().cloned()).collect(),
    };

    let mut out = Map::new();
    let mut execution = Map::new();
    for (key, value) in map {
        let (key, value) = match key.as_str() {
            "expected_outcome" | "outcome" | "criteria" => {
                (direction.to.choose("expected_outcome", "criteria"), value.clone())
            }
            "input" | "input_messages" if value.is_string() => ("input", value.clone()),
            "input" | "input_messages" => (direction.to.choose("input_messages", "input"), value.clone()),
            "expected_output" | "expected_messages" => ("expected_output", value.clone()),
            "rubrics" if direction.to == EvalFileFormat::Two => {
                list.insert(0, json!({"type": "rubrics", "criteria": convert_criteria(value, direction)}));
                continue;
            }
            "rubrics" => ("rubrics", convert_criteria(value, direction)),
            "execution" => {
                let inner = value.as_object().into_iter().flatten();
                execution.extend(
                    inner
                        .filter(|(key, _)| !GRADER_LIST_KEYS.contains(&key.as_str()))
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
                continue;
            }
            key if GRADER_LIST_KEYS.contains(&key) => continue,
            key => (key, value.clone()),
        };
        out.insert(key.to_owned(), value);
    }

    if !list.is_empty() {
        match direction.to {
            EvalFileFormat::One => {
                execution.insert("evaluators".to_owned(), Value::Array(add_names(list)));
            }
            EvalFileFormat::Two => {
                out.insert("assertions".to_owned(), Value::Array(list));
            }
        }
    }

    if !execution.is_empty() {
        out.insert("execution".to_owned(), Value::Object(execution));
    }

    Value::Object(out)
}
