//! Accessors for JSON values.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// Returns the text under a key.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Returns the count under a key. Some logs write counts as texts or as integral floats.
pub(crate) fn count(value: &Value, key: &str) -> Option<u64> {
    let value = value.get(key)?;
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 1e15).map(|n| n as u64))
}

/// The sum of counts. Unknown ones count as 0.
pub(crate) fn sum_counts<const N: usize>(counts: [Option<u64>; N]) -> u64 {
    counts.into_iter().flatten().fold(0, u64::saturating_add)
}

/// Returns the amount of money under a key. Negative and non-finite amounts are rejected.
pub(crate) fn money(value: &Value, key: &str) -> Option<f64> {
    value.get(key).and_then(Value::as_f64).filter(|amount| amount.is_finite() && *amount >= 0.0)
}

/// Returns the time under a key, written as text or as milliseconds since 1970.
pub(crate) fn time(value: &Value, key: &str) -> Option<Timestamp> {
    match value.get(key)? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        _ => None,
    }
}

/// Returns a number of milliseconds as a duration.
pub fn millis(value: Option<&Value>) -> Option<Duration> {
    let number = value?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
    Duration::try_from_secs_f64(number / 1000.0).ok()
}

/// Returns the duration between two times; `None` if the second is earlier.
pub(crate) fn duration_between(from: Timestamp, to: Timestamp) -> Option<Duration> {
    Duration::try_from(to.duration_since(from)).ok()
}

/// Returns the text of a message's content: a text unchanged, or the text blocks of a list joined.
pub(crate) fn content_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| match block {
                    Value::String(text) => Some(text.as_str()),
                    block => {
                        let kind = text(block, "type").unwrap_or("text");
                        let is_text = matches!(kind, "text" | "input_text" | "output_text");
                        is_text.then(|| text(block, "text").or_else(|| text(block, "content")))?
                    }
                })
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Converts the result of a tool: blocks of text become a text, anything else is unchanged.
pub(crate) fn result_value(value: &Value) -> Value {
    match value {
        Value::Array(blocks)
            if !blocks.is_empty() && blocks.iter().all(|block| text(block, "type") == Some("text")) =>
        {
            Value::String(content_text(value))
        }
        other => other.clone(),
    }
}

/// Parses the arguments of a call: JSON written as a text is parsed, any other value is unchanged.
pub(crate) fn parse_arguments(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        other => other.clone(),
    }
}
