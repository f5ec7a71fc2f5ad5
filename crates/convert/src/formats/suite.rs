//! Conversion of the top level between the two formats.

use assize_evalfile::EvalFileFormat;
use serde_json::{Map, Value, json};

use super::case::{convert_case, own_list_pointer};
use super::grader::{add_names, convert_graders};
use super::thresholds::{write_case_borderline, write_suite_borderline};
use super::way::{LineOf, Way};
use crate::note::ConversionNotes;

const CASE_LIST_KEYS: [&str; 4] = ["evalcases", "tests", "eval_cases", "cases"];

/// Converts the values of an eval file. The cases must be inside the value.
pub(crate) fn convert_format(
    value: &Value,
    way: Way,
    line: LineOf<'_>,
    notes: &mut ConversionNotes,
) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let list_key = CASE_LIST_KEYS.into_iter().find(|key| map.contains_key(*key)).unwrap_or("tests");
    let mut head = Map::new();
    let mut execution = Map::new();
    let mut shared: Option<Vec<Value>> = None;
    for (key, value) in map {
        match key.as_str() {
            key if key == list_key => {}
            "$schema" => {
                notes.add_remark(line("/$schema"), "`$schema`", "left out: it names the other format")
            }
            "name" | "dataset" => {
                head.insert(name_key(way.to).to_owned(), value.clone());
            }
            "assertions" | "assert" | "evaluators" => {
                shared = Some(convert_graders(value, way, &format!("/{key}"), line, notes));
            }
            "execution" => {
                for (inner, value) in value.as_object().into_iter().flatten() {
                    if matches!(inner.as_str(), "assertions" | "assert" | "evaluators") {
                        shared =
                            Some(convert_graders(value, way, &format!("/execution/{inner}"), line, notes));
                    } else {
                        execution.insert(inner.clone(), value.clone());
                    }
                }
            }
            _ => {
                head.insert(key.clone(), value.clone());
            }
        }
    }

    let cases = map.get(list_key);
    let items = cases.and_then(Value::as_array);

    if let Some(Value::String(path)) = cases {
        notes.add_loss(
            line(&format!("/{list_key}")),
            format!("`{path}`"),
            "cases in another file are not converted; convert that file too",
        );
    }

    // In format 1 a case's own list replaces that of the suite; in format 2 both count. If any case has one,
    // the shared graders are copied into every case.
    let spread = shared.is_some()
        && items.is_some_and(|items| {
            items.iter().any(|case| own_list_pointer(case).is_some() || skips_defaults(case))
        });
    let to_cases = shared.clone().filter(|_| spread);

    if let Some(shared) = shared.filter(|_| !spread) {
        match way.to {
            EvalFileFormat::One => {
                execution.insert("evaluators".to_owned(), Value::Array(add_names(shared)));
            }
            EvalFileFormat::Two => {
                head.insert("assertions".to_owned(), Value::Array(shared));
            }
        }
    }

    let set = write_suite_borderline(&mut head, &execution, way);

    if !execution.is_empty() {
        head.insert("execution".to_owned(), Value::Object(execution));
    }

    let cases = match (cases, items) {
        (_, Some(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let pointer = format!("/{list_key}/{index}");
                if let Value::String(path) = item {
                    notes.add_loss(
                        line(&pointer),
                        format!("`{path}`"),
                        "cases in another file are not converted; convert that file too",
                    );
                    return item.clone();
                }

                let mut case = convert_case(item, way, to_cases.as_deref(), &pointer, line, notes);
                write_case_borderline(&mut case, set, way);

                case
            })
            .collect(),
        (Some(other), None) => {
            head.insert(list_key_for(way.to).to_owned(), other.clone());
            return Value::Object(head);
        }
        (None, None) => Vec::new(),
    };

    head.insert(list_key_for(way.to).to_owned(), Value::Array(cases));
    Value::Object(head)
}

fn skips_defaults(case: &Value) -> bool {
    case.pointer("/execution/skip_defaults") == Some(&json!(true))
}

const fn name_key(format: EvalFileFormat) -> &'static str {
    match format {
        EvalFileFormat::One => "dataset",
        EvalFileFormat::Two => "name",
    }
}

const fn list_key_for(format: EvalFileFormat) -> &'static str {
    match format {
        EvalFileFormat::One => "evalcases",
        EvalFileFormat::Two => "tests",
    }
}
