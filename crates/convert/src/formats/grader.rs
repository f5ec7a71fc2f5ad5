//! Converts graders between the two formats of eval files.

use assize_model::EvalFileFormat;
use assize_records::UniqueIds;
use serde_json::{Map, Value, json};

use super::FormatDirection;
use super::criterion::convert_criteria;
use super::direction::LineOf;
use crate::note::ConversionNotes;

/// Converts a list of graders. Plain strings, which are criteria, become one rubric at the position of the
/// first.
pub(super) fn convert_graders(
    value: &Value,
    direction: FormatDirection,
    pointer: &str,
    line: LineOf<'_>,
    notes: &mut ConversionNotes,
) -> Vec<Value> {
    let Value::Array(items) = value else { return vec![value.clone()] };
    let texts: Vec<&Value> = items.iter().filter(|item| item.is_string()).collect();
    let mut out = Vec::new();
    let mut collected = false;
    for (index, item) in items.iter().enumerate() {
        if !item.is_string() {
            out.push(convert_grader(item, direction, &format!("{pointer}/{index}"), line, notes));
        } else if direction.to == EvalFileFormat::Two {
            out.push(item.clone());
        } else if !collected {
            collected = true;
            out.push(json!({"name": "rubrics", "type": "rubrics", "weight": texts.len(), "rubrics": texts}));
        }
    }

    out
}

/// Names every grader, as the `evalcases` format requires: after its type, with a number if the name is taken.
pub(super) fn add_names(list: Vec<Value>) -> Vec<Value> {
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
    let mut taken: UniqueIds = list.iter().filter_map(name).collect();
    list.into_iter()
        .map(|value| match value {
            Value::Object(map) if !map.contains_key("name") && !map.contains_key("include") => {
                let kind = map.get("type").and_then(Value::as_str).unwrap_or("grader");
                let mut named = Map::new();
                named.insert("name".to_owned(), json!(taken.take(kind)));
                named.extend(map);
                Value::Object(named)
            }
            other => other,
        })
        .collect()
}

fn convert_grader(
    value: &Value,
    direction: FormatDirection,
    pointer: &str,
    line: LineOf<'_>,
    notes: &mut ConversionNotes,
) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    if map.contains_key("include") {
        notes.add_loss(
            line(pointer),
            "`include`",
            "the included file is read by the rules of the format it is included in; convert it too",
        );
        return value.clone();
    }

    let kind = map
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
        .replace('_', "-");

    let has_criteria = map.contains_key("rubrics") || map.contains_key("criteria");
    let kind = match kind.as_str() {
        "rubric" => "rubrics",
        "llm-judge" | "llm-grader" if has_criteria => "rubrics",
        "llm-judge" => "llm-grader",
        "code-judge" => "code-grader",
        other => other,
    };

    let mut out = Map::new();
    for (key, value) in map {
        let (key, value) = match key.as_str() {
            // The name of a custom grader type is kept as written.
            "type" => {
                let known = value
                    .as_str()
                    .is_some_and(|written| written.to_ascii_lowercase().replace('_', "-") != kind);
                ("type", if known { json!(kind) } else { value.clone() })
            }
            "id" if !map.contains_key("name") => ("name", value.clone()),
            "rubrics" | "criteria" if kind == "rubrics" => {
                (direction.to.choose("rubrics", "criteria"), convert_criteria(value, direction))
            }
            "script" if kind == "code-grader" => ("command", value.clone()),
            "evaluators" | "assertions" | "assert" if kind == "composite" => {
                let members = convert_graders(value, direction, &format!("{pointer}/{key}"), line, notes);
                let members = if direction.to == EvalFileFormat::One { add_names(members) } else { members };
                (direction.to.choose("evaluators", "assertions"), Value::Array(members))
            }
            key @ "prompt" if kind == "llm-grader" => (key, convert_prompt(value, direction)),
            key @ "aggregator" if kind == "composite" => (key, convert_aggregator(value, direction)),
            key => (key, value.clone()),
        };
        out.insert(key.to_owned(), value);
    }

    // By default, the `evalcases` format compares only listed arguments, the `tests` format all of them.
    if kind == "tool-trajectory" && !map.contains_key("args_match") {
        out.insert("args_match".to_owned(), json!(direction.from.choose("superset", "exact")));
    }

    Value::Object(out)
}

/// Converts a prompt. The `evalcases` format reads it as a path if it looks like one, the `tests` format only
/// with `file://`.
fn convert_prompt(value: &Value, direction: FormatDirection) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let looks_like_path =
        !text.contains(['\n', ' ']) && text.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if direction.to == EvalFileFormat::Two && looks_like_path && !text.starts_with("file://") {
        json!(format!("file://{text}"))
    } else {
        value.clone()
    }
}

/// Converts the settings of a composite's aggregator.
fn convert_aggregator(value: &Value, direction: FormatDirection) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let set = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value.as_str()) {
            ("type", Some("code_judge" | "code-judge")) => json!("code-grader"),
            ("type", Some("llm_judge" | "llm-judge")) => json!("llm-grader"),
            ("prompt", _) => convert_prompt(value, direction),
            _ => value.clone(),
        };
        (key.clone(), value)
    };
    Value::Object(map.iter().map(set).collect())
}
