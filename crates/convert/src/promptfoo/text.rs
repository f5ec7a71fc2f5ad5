//! Variables and the texts they stand in.

use serde_json::{Map, Value};

const RAW: &str = "{% raw %}";
const END_RAW: &str = "{% endraw %}";

/// A text as it must be written to stay as it is: template marks in it stand in a raw block.
pub(crate) fn raw(text: &str) -> String {
    if ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        // A raw block that the text holds itself is closed and opened again around its end.
        let inner = text.replace(END_RAW, "{% endraw %}{{ '{% endraw %}' }}{% raw %}");
        format!("{RAW}{inner}{END_RAW}")
    } else {
        text.to_owned()
    }
}

/// The text of a raw block that is all there is, or the text as written.
pub(super) fn unraw(text: &str) -> Option<&str> {
    text.strip_prefix(RAW)?.strip_suffix(END_RAW).filter(|inner| !inner.contains(END_RAW))
}

/// A text with `{{ name }}` replaced by the variables, and the names that could not be.
///
/// Only plain names are known: filters and blocks stay as written and are named. A value is put in as it is and not read
/// again.
pub(super) fn filled(text: &str, vars: &Map<String, Value>) -> (String, Vec<String>) {
    if let Some(inner) = unraw(text) {
        return (inner.to_owned(), Vec::new());
    }
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
