//! Converts the top level between the two formats of eval files.

use assize_model::EvalFileFormat;
use serde_json::{Map, Value, json};

use super::case::{convert_case, own_list_pointer};
use super::direction::{FormatDirection, LineOf};
use super::grader::{add_names, convert_graders};
use super::thresholds::{write_case_borderline, write_suite_borderline};
use crate::note::ConversionNotes;

const CASE_LIST_KEYS: [&str; 4] = ["evalcases", "tests", "eval_cases", "cases"];

/// Top level of a file, with the graders of the suite separate.
#[derive(Default)]
struct SuiteHead {
    head: Map<String, Value>,
    execution: Map<String, Value>,
    graders: Option<Vec<Value>>,
}

/// Converts an eval file. The cases must be part of the value.
pub(crate) fn convert_format(
    value: &Value,
    direction: FormatDirection,
    line: LineOf<'_>,
    notes: &mut ConversionNotes,
) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let list_key = CASE_LIST_KEYS.into_iter().find(|key| map.contains_key(*key)).unwrap_or("tests");
    let mut suite = convert_head(map, list_key, direction, line, notes);

    let cases = map.get(list_key);
    let items = cases.and_then(Value::as_array);

    if let Some(Value::String(path)) = cases {
        note_case_file(path, line(&format!("/{list_key}")), notes);
    }

    let to_cases = suite.place_graders(items.map_or(&[], Vec::as_slice), direction);
    let SuiteHead { mut head, execution, .. } = suite;
    let set = write_suite_borderline(&mut head, &execution, direction);

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
                    note_case_file(path, line(&pointer), notes);
                    return item.clone();
                }

                let mut case = convert_case(item, direction, to_cases.as_deref(), &pointer, line, notes);
                write_case_borderline(&mut case, set, direction);

                case
            })
            .collect(),
        (Some(other), None) => other.clone(),
        (None, None) => Value::Array(Vec::new()),
    };

    head.insert(direction.to.case_list().to_owned(), cases);
    Value::Object(head)
}

/// Converts all parts except the cases.
fn convert_head(
    map: &Map<String, Value>,
    list_key: &str,
    direction: FormatDirection,
    line: LineOf<'_>,
    notes: &mut ConversionNotes,
) -> SuiteHead {
    let mut suite = SuiteHead::default();
    for (key, value) in map {
        match key.as_str() {
            key if key == list_key => {}
            "$schema" => {
                notes.add_remark(line("/$schema"), "`$schema`", "skipped: it names the other format");
            }
            "name" | "dataset" => {
                suite.head.insert(direction.to.choose("dataset", "name").to_owned(), value.clone());
            }
            "assertions" | "assert" | "evaluators" => {
                suite.graders = Some(convert_graders(value, direction, &format!("/{key}"), line, notes));
            }
            "execution" => {
                for (inner, value) in value.as_object().into_iter().flatten() {
                    if matches!(inner.as_str(), "assertions" | "assert" | "evaluators") {
                        let pointer = format!("/execution/{inner}");
                        suite.graders = Some(convert_graders(value, direction, &pointer, line, notes));
                    } else {
                        suite.execution.insert(inner.clone(), value.clone());
                    }
                }
            }
            _ => {
                suite.head.insert(key.clone(), value.clone());
            }
        }
    }

    suite
}

impl SuiteHead {
    /// Writes the graders of the suite in the place that the other format has for them. Returns those that must be
    /// copied into every case instead: in the `evalcases` format a case's own list replaces the suite's, in the `tests`
    /// format both count.
    fn place_graders(&mut self, cases: &[Value], direction: FormatDirection) -> Option<Vec<Value>> {
        let graders = self.graders.take()?;
        let skips_defaults = |case: &Value| case.pointer("/execution/skip_defaults") == Some(&json!(true));
        if cases.iter().any(|case| own_list_pointer(case).is_some() || skips_defaults(case)) {
            return Some(graders);
        }

        match direction.to {
            EvalFileFormat::One => {
                self.execution.insert("evaluators".to_owned(), Value::Array(add_names(graders)));
            }
            EvalFileFormat::Two => {
                self.head.insert("assertions".to_owned(), Value::Array(graders));
            }
        }

        None
    }
}

fn note_case_file(path: &str, line: usize, notes: &mut ConversionNotes) {
    notes.add_loss(
        line,
        format!("`{path}`"),
        "cases in another file are not converted; convert that file too",
    );
}
