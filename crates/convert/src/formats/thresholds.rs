//! Converts thresholds. The `evalcases` format has a default borderline threshold, the `tests` format has none.

use assize_rubric::VerdictThresholds;
use serde_json::{Map, Value, json};

use super::FormatDirection;

fn read_number(map: &Map<String, Value>, key: &str) -> Option<f64> {
    map.get(key).and_then(Value::as_f64)
}

/// Writes out the borderline threshold that applies by default in the source format, and returns it.
pub(super) fn write_suite_borderline(
    head: &mut Map<String, Value>,
    execution: &Map<String, Value>,
    direction: FormatDirection,
) -> Option<f64> {
    let pass = read_number(head, "threshold")
        .or_else(|| read_number(execution, "threshold"))
        .unwrap_or(VerdictThresholds::DEFAULT_PASS);
    let given = read_number(head, "borderline").or_else(|| read_number(execution, "borderline"));
    if given.is_some() || direction.from == direction.to {
        return None;
    }

    // A borderline threshold equal to the pass threshold has no effect.
    let line = direction.from.choose(VerdictThresholds::DEFAULT_BORDERLINE.min(pass), pass);
    head.insert("borderline".to_owned(), json!(line));

    Some(line)
}

/// Writes out the borderline threshold of a case that has its own pass threshold. `suite` is the one that was
/// written out for the suite.
pub(super) fn write_case_borderline(case: &mut Value, suite: Option<f64>, direction: FormatDirection) {
    let Some(suite) = suite else { return };
    let Some(map) = case.as_object_mut() else { return };
    let inner = map.get("execution").and_then(Value::as_object).cloned().unwrap_or_default();
    let Some(pass) = read_number(map, "threshold").or_else(|| read_number(&inner, "threshold")) else {
        return;
    };

    if read_number(map, "borderline").or_else(|| read_number(&inner, "borderline")).is_some() {
        return;
    }

    let line = direction.from.choose(VerdictThresholds::DEFAULT_BORDERLINE.min(pass), pass);
    if (line - suite).abs() > f64::EPSILON {
        map.insert("borderline".to_owned(), json!(line));
    }
}
