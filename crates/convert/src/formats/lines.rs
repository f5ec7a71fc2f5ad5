//! Conversion of thresholds: format 1 has a default borderline threshold, format 2 has none.

use assize_evalfile::Format;
use assize_rubric::Lines;
use serde_json::{Map, Value, json};

use super::Way;

/// Borderline threshold that was written out for the suite, if any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Set {
    borderline: Option<f64>,
}

fn number(map: &Map<String, Value>, key: &str) -> Option<f64> {
    map.get(key).and_then(Value::as_f64)
}

/// Writes out the borderline threshold that the source format applies by default.
pub(super) fn suite_lines(head: &mut Map<String, Value>, execution: &Map<String, Value>, way: Way) -> Set {
    let pass =
        number(head, "threshold").or_else(|| number(execution, "threshold")).unwrap_or(Lines::DEFAULT_PASS);
    let given = number(head, "borderline").or_else(|| number(execution, "borderline"));
    if given.is_some() || way.from == way.to {
        return Set { borderline: None };
    }
    // A borderline threshold equal to the pass threshold has no effect.
    let line = match way.from {
        Format::One => Lines::DEFAULT_BORDERLINE.min(pass),
        Format::Two => pass,
    };
    head.insert("borderline".to_owned(), json!(line));
    Set { borderline: Some(line) }
}

/// Writes out the borderline threshold of a case with a pass threshold of its own.
pub(super) fn case_lines(case: &mut Value, set: Set, way: Way) {
    let Some(suite) = set.borderline else { return };
    let Some(map) = case.as_object_mut() else { return };
    let inner = map.get("execution").and_then(Value::as_object).cloned().unwrap_or_default();
    let Some(pass) = number(map, "threshold").or_else(|| number(&inner, "threshold")) else { return };
    if number(map, "borderline").or_else(|| number(&inner, "borderline")).is_some() {
        return;
    }
    let line = match way.from {
        Format::One => Lines::DEFAULT_BORDERLINE.min(pass),
        Format::Two => pass,
    };
    if (line - suite).abs() > f64::EPSILON {
        map.insert("borderline".to_owned(), json!(line));
    }
}
