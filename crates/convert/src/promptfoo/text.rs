//! Variables and the texts they stand in.

use serde_json::{Map, Value};

/// A text with `{{ name }}` replaced by the variables, and the names that could not be.
///
/// Only plain names are known: filters and blocks stay as written and are named. A value is put in as it is and not read
/// again.
pub(super) fn filled(text: &str, vars: &Map<String, Value>) -> (String, Vec<String>) {
    let mut out = String::with_capacity(text.len());
    let mut unknown = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let Some(end) = after.find("}}") else {
            out.push_str(&rest[at..]);
            rest = "";
            break;
        };
        let name = after[..end].trim_matches([' ', '-']);
        if let Some(value) = vars.get(name) {
            out.push_str(&plain(value));
        } else {
            unknown.push(name.to_owned());
            out.push_str(&rest[at..at + 2 + end + 2]);
        }
        rest = &after[end + 2..];
    }
    out.push_str(rest);
    if rest.contains("{%") || text.contains("{%") {
        unknown.push("{% ... %}".to_owned());
    }
    (out, unknown)
}

/// A value as text.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
