//! Variables and their substitution in texts.

use serde_json::{Map, Value};

const RAW: &str = "{% raw %}";
const END_RAW: &str = "{% endraw %}";

/// Escapes a text: template markers are put into a raw block.
pub(crate) fn escape_template(text: &str) -> String {
    if ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        // A raw block in the text itself is closed and reopened around its end.
        let inner = text.replace(END_RAW, "{% endraw %}{{ '{% endraw %}' }}{% raw %}");
        format!("{RAW}{inner}{END_RAW}")
    } else {
        text.to_owned()
    }
}

/// Returns the content of a text that is one raw block.
pub(super) fn raw_block_content(text: &str) -> Option<&str> {
    text.strip_prefix(RAW)?.strip_suffix(END_RAW).filter(|inner| !inner.contains(END_RAW))
}

/// Returns a text with `{{ name }}` replaced by the variables, and the names that could not be resolved.
///
/// Only plain names are resolved: filters and blocks stay as written and are returned as names. Values are
/// inserted verbatim and not expanded again.
pub(super) fn fill_variables(text: &str, vars: &Map<String, Value>) -> (String, Vec<String>) {
    if let Some(inner) = raw_block_content(text) {
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
            out.push_str(&value_text(value));
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

/// Returns a value as text.
pub(super) fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
