//! Conversion of the top level between the two formats.

use assize_evalfile::Format;
use serde_json::{Map, Value, json};

use super::case::{case, own_list};
use super::grader::{graders, names};
use super::lines::{case_lines, suite_lines};
use super::way::{LineOf, Way};
use crate::note::Notes;

const LISTS: [&str; 4] = ["evalcases", "tests", "eval_cases", "cases"];

/// Converts the values of an eval file. The cases must be inside the value.
pub(crate) fn suite(value: &Value, way: Way, line: LineOf<'_>, notes: &mut Notes) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let list_key = LISTS.into_iter().find(|key| map.contains_key(*key)).unwrap_or("tests");
    let mut head = Map::new();
    let mut execution = Map::new();
    let mut shared: Option<Vec<Value>> = None;
    for (key, value) in map {
        match key.as_str() {
            key if key == list_key => {}
            "$schema" => notes.tell(line("/$schema"), "`$schema`", "left out: it names the other format"),
            "name" | "dataset" => {
                head.insert(name_key(way.to).to_owned(), value.clone());
            }
            "assertions" | "assert" | "evaluators" => {
                shared = Some(graders(value, way, &format!("/{key}"), line, notes));
            }
            "execution" => {
                for (inner, value) in value.as_object().into_iter().flatten() {
                    if matches!(inner.as_str(), "assertions" | "assert" | "evaluators") {
                        shared = Some(graders(value, way, &format!("/execution/{inner}"), line, notes));
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
        notes.lost(
            line(&format!("/{list_key}")),
            format!("`{path}`"),
            "cases in another file are not converted; convert that file too",
        );
    }
    // In format 1 a case's own list replaces that of the suite; in format 2 both count. If any case has one,
    // the shared graders are copied into every case.
    let spread = shared.is_some()
        && items.is_some_and(|items| items.iter().any(|case| own_list(case).is_some() || skips(case)));
    let to_cases = shared.clone().filter(|_| spread);
    if let Some(shared) = shared.filter(|_| !spread) {
        match way.to {
            Format::One => {
                execution.insert("evaluators".to_owned(), Value::Array(names(shared)));
            }
            Format::Two => {
                head.insert("assertions".to_owned(), Value::Array(shared));
            }
        }
    }
    let set = suite_lines(&mut head, &execution, way);
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
                    notes.lost(
                        line(&pointer),
                        format!("`{path}`"),
                        "cases in another file are not converted; convert that file too",
                    );
                    return item.clone();
                }
                let mut case = case(item, way, to_cases.as_deref(), &pointer, line, notes);
                case_lines(&mut case, set, way);
                case
            })
            .collect(),
        (Some(other), None) => {
            head.insert(list_key_of(way.to).to_owned(), other.clone());
            return Value::Object(head);
        }
        (None, None) => Vec::new(),
    };
    head.insert(list_key_of(way.to).to_owned(), Value::Array(cases));
    Value::Object(head)
}

fn skips(case: &Value) -> bool {
    case.pointer("/execution/skip_defaults") == Some(&json!(true))
}

const fn name_key(format: Format) -> &'static str {
    match format {
        Format::One => "dataset",
        Format::Two => "name",
    }
}

const fn list_key_of(format: Format) -> &'static str {
    match format {
        Format::One => "evalcases",
        Format::Two => "tests",
    }
}
