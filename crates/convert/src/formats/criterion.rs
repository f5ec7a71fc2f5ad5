//! Converts criteria between the two formats of eval files.

use assize_model::EvalFileFormat;
use serde_json::{Map, Value, json};

use super::FormatDirection;

/// Keys of the text of a criterion or a score range.
const TEXT_KEYS: [&str; 4] = ["expected_outcome", "outcome", "description", "criteria"];

fn text_key(format: EvalFileFormat) -> &'static str {
    format.choose("expected_outcome", "outcome")
}

/// Converts a list of criteria, or a single text.
pub(super) fn convert_criteria(value: &Value, direction: FormatDirection) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| convert_criterion(item, direction)).collect(),
        other => other.clone(),
    }
}

/// Converts a criterion. `required` is written out if the defaults of the formats differ.
fn convert_criterion(value: &Value, direction: FormatDirection) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        let (key, value) = match (key.as_str(), value.as_f64()) {
            (key, _) if TEXT_KEYS.contains(&key) && !map.contains_key(text_key(direction.to)) => {
                (text_key(direction.to), value.clone())
            }
            ("required_min_score", Some(score)) if direction.to == EvalFileFormat::Two => {
                ("min_score", json!(score / 10.0))
            }
            (key @ "score_ranges", _) => (key, convert_ranges(value, direction)),
            (key, _) => (key, value.clone()),
        };
        out.insert(key.to_owned(), value);
    }

    let given = |key: &str| map.get(key).is_some_and(|value| !value.is_null());
    let by_itself =
        !given("required") && !given("min_score") && !given("required_min_score") && !given("score_ranges");
    let penalty = map.get("weight").and_then(Value::as_f64).is_some_and(|weight| weight < 0.0);
    if by_itself && !penalty && direction.from != direction.to {
        out.insert("required".to_owned(), json!(direction.from == EvalFileFormat::One));
    }

    Value::Object(out)
}

fn convert_ranges(value: &Value, direction: FormatDirection) -> Value {
    let Value::Array(items) = value else { return value.clone() };
    let range = |item: &Value| {
        let Some(map) = item.as_object() else { return item.clone() };
        let rename = |key: &String| {
            if TEXT_KEYS.contains(&key.as_str()) { text_key(direction.to).to_owned() } else { key.clone() }
        };
        Value::Object(map.iter().map(|(key, value)| (rename(key), value.clone())).collect())
    };
    items.iter().map(range).collect()
}
