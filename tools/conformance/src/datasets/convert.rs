//! Converts published data to tables that the commands read, without computing anything.

use std::collections::BTreeMap;

use serde_json::Value;

/// The objects of a text of JSON lines.
pub(super) fn json_lines(text: &str) -> Result<Vec<Value>, String> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
        .collect()
}

/// The rows of tab-separated text, with the names of the first line as keys.
pub(super) fn tabbed(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    lines.map(|line| names.iter().copied().zip(line.split('\t')).collect()).collect()
}

/// The items of a list; empty for anything else.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
