//! Checks the values of assertions that are implemented in JavaScript here. With a value of the wrong shape, they could
//! pass for any answer.

use serde_json::{Map, Value};

use super::assertion_grader::AssertionGrader;

/// Keys that name a tool.
const TOOL_KEYS: [&str; 3] = ["name", "pattern", "tool"];

/// Types whose value is checked, with the expected shape.
const SHAPES: [(&str, &str); 8] = [
    ("finish-reason", "write a text, such as `stop`"),
    ("levenshtein", "write the text to compare with"),
    ("rouge-n", "write the text to compare with"),
    ("tool-call-f1", "write the names of tools, as a list or with commas between them"),
    (
        "trajectory:step-count",
        "write a number, or a map with `min` or `max`, and perhaps `pattern`; only calls of tools are counted",
    ),
    (
        "trajectory:tool-args-match",
        "write a map with `name` or `pattern`, `args`, and perhaps `mode: exact` or `partial`",
    ),
    (
        "trajectory:tool-sequence",
        "write a list of tools, or a map with `steps` and perhaps `mode: exact` or `in_order`",
    ),
    (
        "trajectory:tool-used",
        "write the name of a tool, a list of names, or a map with `name` or `pattern`, and perhaps `min` and `max`",
    ),
];

impl AssertionGrader<'_> {
    /// Checks the value of a built-in assertion. Returns `None` after adding a diagnostic.
    pub(super) fn check_built_in_value(&mut self, value: &Value) -> Option<()> {
        let Some((name, shape)) = SHAPES.iter().find(|row| row.0 == self.kind.name) else { return Some(()) };
        if value.is_null() {
            return self.refuse_missing_value();
        }
        if has_shape(name, value) {
            return Some(());
        }

        self.refuse_value("has the wrong shape", "can't be used", shape)
    }
}

fn has_shape(name: &str, value: &Value) -> bool {
    match (name, value) {
        ("levenshtein", Value::String(_))
        | ("levenshtein" | "rouge-n" | "trajectory:step-count", Value::Number(_)) => true,
        ("finish-reason" | "rouge-n", _) | ("trajectory:tool-used", Value::String(_)) => is_text(value),
        ("tool-call-f1", Value::String(text)) => text.split(',').any(|name| !name.trim().is_empty()),
        ("tool-call-f1", Value::Array(tools)) => !tools.is_empty() && tools.iter().all(is_tool),
        ("trajectory:step-count", Value::Object(map)) => {
            (map.contains_key("min") || map.contains_key("max"))
                && has_only(map, &["min", "max", "pattern", "type"])
        }
        ("trajectory:tool-args-match", Value::Object(map)) => {
            names_tool(map)
                && (map.contains_key("args") || map.contains_key("arguments"))
                && has_mode(map, &["exact", "partial"])
                && has_only(map, &["name", "pattern", "tool", "args", "arguments", "mode", "type"])
        }
        ("trajectory:tool-sequence", Value::Object(map)) => {
            map.get("steps").is_some_and(are_tools)
                && has_mode(map, &["exact", "in_order"])
                && has_only(map, &["steps", "mode"])
        }
        ("trajectory:tool-used", Value::Object(map)) => {
            names_tool(map) && has_only(map, &["name", "pattern", "tool", "type", "min", "max"])
        }
        ("trajectory:tool-used" | "trajectory:tool-sequence", tools) => are_tools(tools),
        _ => false,
    }
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Returns true for a non-empty list of tools.
fn are_tools(value: &Value) -> bool {
    value.as_array().is_some_and(|tools| !tools.is_empty() && tools.iter().all(is_tool))
}

fn is_tool(value: &Value) -> bool {
    let is_map = |map: &Map<String, Value>| {
        names_tool(map) && has_only(map, &["name", "pattern", "tool", "type", "min", "max"])
    };
    is_text(value) || value.as_object().is_some_and(is_map)
}

fn names_tool(map: &Map<String, Value>) -> bool {
    TOOL_KEYS.iter().any(|key| map.get(*key).is_some_and(is_text))
}

fn has_mode(map: &Map<String, Value>, modes: &[&str]) -> bool {
    map.get("mode").is_none_or(|mode| mode.as_str().is_some_and(|mode| modes.contains(&mode)))
}

/// Returns true if a map has no other keys, limits are numbers, and the only type of step is a tool call.
fn has_only(map: &Map<String, Value>, keys: &[&str]) -> bool {
    map.iter().all(|(key, value)| {
        keys.contains(&key.as_str())
            && match key.as_str() {
                "min" | "max" => value.is_number(),
                "type" => value.as_str() == Some("tool"),
                "name" | "pattern" | "tool" => is_text(value),
                _ => true,
            }
    })
}
