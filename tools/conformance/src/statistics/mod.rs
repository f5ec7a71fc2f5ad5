//! Known values of statistics, from reference libraries.

mod agreement;
mod compare;
mod correction;
mod data;
mod judged;
mod rates;
mod repeats;
mod vector;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::output;
use crate::shared::SharedFolder;
use vector::{Outcome, number};

/// Appends a line to a text.
macro_rules! line {
    ($text:expr, $($part:tt)*) => { writeln!($text, $($part)*).expect("a string takes everything") };
}

fn compute(vector: &Value, folder: &Path) -> Outcome {
    let (group, method) = (vector["group"].as_str().unwrap(), vector["method"].as_str().unwrap());
    let inputs = &vector["inputs"];
    let figures = match group {
        "proportion_ci" => rates::rates(method, inputs),
        "two_proportions" => rates::differences(method, inputs),
        "mean" => rates::means(method, inputs),
        "bootstrap" => rates::bootstrap(method, inputs),
        "paired_test" => compare::compute(method, inputs),
        "pass_k" => repeats::pass_k(method, inputs),
        "agreement" => agreement::compute(method, inputs),
        "classification" => judged::classification(method, inputs),
        "correlation" => judged::correlation(method, inputs),
        "calibration" => return judged::calibration(method, inputs, folder),
        "judge_correction" => correction::compute(method, inputs),
        "multiplicity" => correction::multiplicity(method, inputs),
        "power" => correction::power(method, inputs),
        "aggregation" => repeats::aggregation(method, inputs),
        "rubric_score" => {
            return Outcome::Skipped("how a rubric is scored is the rubric crate's, and tested there");
        }
        "end_to_end" => return data::compute(method, inputs, folder),
        _ => None,
    };
    figures.map_or(Outcome::Unknown, Outcome::Figures)
}

/// Figures that the collection includes as a contrast or as a mistake to avoid. They are not methods of the
/// crate.
const NOT_METHODS: [&str; 1] = ["kappa_quadratic_if_labels_are_only_those_seen"];

/// Compares the figures one by one and lists those that differ.
fn differences(expected: &Value, found: &Value, vector: &Value, path: &str, wrong: &mut Vec<String>) {
    let tolerance = vector["tol"].as_f64().unwrap();
    let conventions = vector["zero_division"].as_array();
    let is_convention = conventions.is_some_and(|names| {
        names.iter().any(|name| Some(name.as_str().unwrap()) == path.rsplit('/').next())
    });
    match (expected, found) {
        (Value::Object(expected), _) => {
            for (name, value) in expected {
                if !NOT_METHODS.contains(&name.as_str()) {
                    let path = format!("{path}/{name}");
                    match found.get(name) {
                        Some(found) => differences(value, found, vector, &path, wrong),
                        None => wrong.push(format!("{path}: not computed, expected {value}")),
                    }
                }
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                differences(expected, found, vector, &format!("{path}/{index}"), wrong);
            }
        }
        (Value::Number(_), Value::Number(_)) => {
            let (a, b) = (number(expected), number(found));
            if (a - b).abs() > tolerance * a.abs().max(1.0) {
                wrong.push(format!("{path}: {b}, expected {a}"));
            }
        }
        // The reference library prints a number by convention where the figure is 0/0.
        (Value::Number(_), Value::Null) if is_convention => {}
        _ if expected == found => {}
        _ => wrong.push(format!("{path}: {found}, expected {expected}")),
    }
}

/// Counts for the vectors of a group.
#[derive(Default)]
struct Row {
    right: u32,
    wrong: u32,
    skipped: u32,
    reasons: BTreeMap<&'static str, u32>,
}

/// Every vector of a statistic is reproduced.
pub(crate) fn vectors(shared: &SharedFolder) {
    let folder = shared.path("");
    let text = std::fs::read_to_string(folder.join("vectors/statistics.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut table: BTreeMap<&str, Row> = BTreeMap::new();
    let mut complaints = Vec::new();
    for vector in all["vectors"].as_array().unwrap() {
        let (id, group) = (vector["id"].as_str().unwrap(), vector["group"].as_str().unwrap());
        let row = table.entry(group).or_default();
        match compute(vector, &folder) {
            Outcome::Skipped(reason) => {
                row.skipped += 1;
                *row.reasons.entry(reason).or_default() += 1;
            }
            Outcome::Unknown => {
                row.wrong += 1;
                complaints.push(format!("{id}: no method {}", vector["method"]));
            }
            Outcome::Figures(found) => {
                let mut wrong = Vec::new();
                differences(&vector["expected"], &found, vector, "", &mut wrong);

                if wrong.is_empty() {
                    row.right += 1;
                } else {
                    row.wrong += 1;
                    complaints.extend(wrong.into_iter().map(|what| format!("{id}{what}")));
                }
            }
        }
    }

    let text = &mut String::new();
    line!(text, "{:<18} {:>5} {:>5} {:>7}", "group", "right", "wrong", "skipped");

    let (mut right, mut wrong) = (0, 0);
    for (group, Row { right: good, wrong: bad, skipped, reasons }) in &table {
        line!(text, "{group:<18} {good:>5} {bad:>5} {skipped:>7}");

        for (reason, times) in reasons {
            line!(text, "{:<18} {times} skipped: {reason}", "");
        }

        right += good;
        wrong += bad;
    }

    line!(text, "{right} right, {wrong} wrong");
    output::print(text);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));

    assert!(right > 0, "the collection holds vectors of this crate");
}
