//! Writes YAML that every parser reads as the given values.

use std::fmt::Write as _;

use serde_json::Value;

use crate::tree::{NodeValue, resolve_scalar};

/// Returns a value as YAML in block style, each line indented by `indent` spaces, with a trailing line feed.
///
/// Maps keep the order of their keys. Strings of several lines become literal blocks where that is safe.
/// Numbers are written as in JSON.
pub fn to_yaml(value: &Value, indent: usize) -> String {
    let mut lines = Vec::new();
    match value {
        Value::Object(map) if !map.is_empty() => push_entries(map, indent, 2, &mut lines),
        Value::Array(items) if !items.is_empty() => push_items(items, indent, 2, &mut lines),
        other => lines.push(format!("{}{}", " ".repeat(indent), format_leaf(other, indent))),
    }

    let mut text = lines.join("\n");
    text.push('\n');

    text
}

/// Returns a string as a YAML scalar on one line: plain if every parser reads it as this string, else in double
/// quotes.
pub fn yaml_scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quote_yaml(text) }
}

fn push_entries(map: &serde_json::Map<String, Value>, column: usize, step: usize, lines: &mut Vec<String>) {
    for (key, value) in map {
        push_entry(key, value, column, step, lines);
    }
}

/// Adds the lines of `key: value` at a column; items of lists are indented by `step` columns relative to their
/// key.
pub(super) fn push_entry(key: &str, value: &Value, column: usize, step: usize, lines: &mut Vec<String>) {
    let head = format!("{}{}:", " ".repeat(column), yaml_scalar(key));
    match value {
        Value::Object(map) if !map.is_empty() => {
            lines.push(head);
            push_entries(map, column + 2, step, lines);
        }
        // A few numbers read best on one line.
        Value::Array(items)
            if !items.is_empty() && (items.len() > 4 || !items.iter().all(Value::is_number)) =>
        {
            lines.push(head);
            push_items(items, column + step, step, lines);
        }
        other => lines.push(format!("{head} {}", format_leaf(other, column + 2))),
    }
}

fn push_items(items: &[Value], column: usize, step: usize, lines: &mut Vec<String>) {
    for value in items {
        push_item(value, column, step, lines);
    }
}

/// Adds the lines of `- value` at a column.
pub(super) fn push_item(value: &Value, column: usize, step: usize, lines: &mut Vec<String>) {
    let first = lines.len();

    match value {
        Value::Object(map) if !map.is_empty() => push_entries(map, column + 2, step, lines),
        Value::Array(items) if !items.is_empty() => push_items(items, column + 2, step, lines),
        other => lines.push(format!("{}{}", " ".repeat(column + 2), format_leaf(other, column + 2))),
    }

    // The dash replaces the first line's indentation.
    let rest = lines[first][column + 2..].to_owned();
    lines[first] = format!("{}- {rest}", " ".repeat(column));
}

/// Returns a scalar, or an empty or inline collection. `column` is the indentation of a literal block.
fn format_leaf(value: &Value, column: usize) -> String {
    match value {
        Value::String(text) if text.contains('\n') && fits_literal_block(text) => {
            let chomp = if text.ends_with('\n') { "" } else { "-" };
            let mut out = format!("|{chomp}");
            for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
                out.push('\n');
                if !line.is_empty() {
                    out.push_str(&" ".repeat(column));
                    out.push_str(line);
                }
            }

            out
        }
        Value::String(text) => yaml_scalar(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns true if a string of several lines can be written as a literal block. The first line of a block sets
/// its indentation, so it must not begin with a blank; and trailing blanks must not occur, because editors
/// strip them.
fn fits_literal_block(text: &str) -> bool {
    !text.starts_with([' ', '\t', '\n'])
        && !text.ends_with("\n\n")
        && text.lines().all(|line| !line.ends_with([' ', '\t']))
        && !text.chars().any(|c| c != '\n' && is_special(c))
}

/// Returns true for characters that are always escaped.
fn is_special(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Words that YAML 1.1 parsers read as booleans or operators.
const OLDER_WORDS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "=", "<<"];

fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let opens = first.is_alphanumeric() || matches!(first, '(' | '$' | '/' | '_' | '+' | '~' | '<' | '.');
    opens
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(is_special)
        && !OLDER_WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
        // Dates, times, versions and numbers with separators: YAML 1.1 parsers read them as other types.
        && !(text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '.'))
            && text.chars().all(|c| c.is_ascii_digit() || "+-.:_ TZtz".contains(c)))
        && matches!(resolve_scalar(text), NodeValue::Str(_))
}

fn quote_yaml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');

    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_special(c) => drop(write!(out, "\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }

    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use assize_diagnostic::SourceMap;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::diagnostic_collector::DiagnosticCollector;
    use crate::tree::read_yaml;

    fn back(text: &str) -> Value {
        let mut sources = SourceMap::new();
        let source = sources.add("a.yaml", text);
        let mut problems = DiagnosticCollector::default();
        let node = read_yaml(&sources, source, &mut problems);
        assert_eq!(problems.error_count(), 0, "{text}");
        node.map_or(Value::Null, |node| node.to_json())
    }

    #[test]
    fn values_look_as_people_write_them() {
        let value = json!({"id": "a-1", "input": "Two\nlines", "weight": 2.0, "yes": "no", "n": null,
            "list": [{"a": "x: y", "b": []}, "- z", [1, "two"]], "date": "2026-01-02", "text": "it's 5 #1"});
        let text = "  id: a-1\n  input: |-\n    Two\n    lines\n  weight: 2.0\n  \"yes\": \"no\"\n  \"n\": null\n  list:\n    - a: \"x: y\"\n      b: []\n    - \"- z\"\n    - - 1\n      - two\n  date: \"2026-01-02\"\n  text: \"it's 5 #1\"\n";
        assert_eq!(to_yaml(&value, 2), text);
        assert_eq!(back(&to_yaml(&value, 0)), value);
    }

    #[test]
    fn texts_that_mean_something_else_are_quoted() {
        for text in
            ["", " a", "a ", "a:", "true", "1.5", "0x1F", "~", "null", "Yes", "*a", "{a}", "a\tb", "%", "@x"]
        {
            assert!(yaml_scalar(text).starts_with('"'), "{text:?}");
        }
        for text in ["a", "Names the date", "(see below)", "a{b}", "50 % of it", "é"] {
            assert_eq!(yaml_scalar(text), text);
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let text =
            prop_oneof!["[ -~é\n\t]{0,30}", "\\PC{0,12}", Just("a\n\nb\n".to_owned()), any::<String>()];
        let leaf = prop_oneof![
            text.prop_map(Value::String),
            any::<bool>().prop_map(Value::Bool),
            any::<i32>().prop_map(|n| json!(n)),
            (-1e6..1e6).prop_map(|n: f64| json!(n)),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec(("[ -~]{0,8}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().filter(|(k, _)| k != "<<").collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn what_is_written_reads_back(value in values()) {
            prop_assume!(!value.is_null());
            prop_assert_eq!(back(&to_yaml(&json!({"k": value.clone()}), 0)), json!({"k": value}));
        }
    }
}
