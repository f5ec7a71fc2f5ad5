//! Inputs and results of vectors.

use std::path::Path;

use assize_stats::{ConfidenceLevel, Interval, UndefinedReason};
use serde_json::{Value, json};

/// Result of a vector.
pub(super) enum Outcome {
    /// The computed figures.
    Figures(Value),
    /// The vector does not apply here, for this reason.
    Skipped(&'static str),
    /// No method of this name is known.
    Unknown,
}

pub(super) fn level(inputs: &Value) -> ConfidenceLevel {
    inputs["confidence"].as_f64().map_or(ConfidenceLevel::P95, |level| ConfidenceLevel::new(level).unwrap())
}

pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a count, not {value}"))
}

pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

pub(super) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("numbers, not {value}")).iter().map(number).collect()
}

/// Flags written as 0 and 1, or as false and true.
pub(super) fn flags(value: &Value) -> Vec<bool> {
    let flag = |value: &Value| value.as_bool().unwrap_or_else(|| number(value) != 0.0);
    value.as_array().unwrap_or_else(|| panic!("flags, not {value}")).iter().map(flag).collect()
}

pub(super) fn low(interval: Result<Interval, UndefinedReason>) -> Option<f64> {
    interval.ok().map(|interval| interval.low)
}

pub(super) fn high(interval: Result<Interval, UndefinedReason>) -> Option<f64> {
    interval.ok().map(|interval| interval.high)
}

pub(super) fn ends(interval: Result<Interval, UndefinedReason>) -> Value {
    json!({"low": low(interval), "high": high(interval)})
}

/// Result of a vector whose data file is missing.
pub(super) const ABSENT: Outcome = Outcome::Skipped("its data file is absent");

/// The rows of a JSONL file; `None` if it does not exist.
pub(super) fn rows(file: &Path) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}
