//! Layout of a file: line ends, columns, indentation steps.

use serde_json::Value;

use super::tree_path::{is_flow, own_entries};
use super::yaml_text::{push_entry, push_item};
use crate::tree::{NodeValue, TreeNode};

/// Returns the line end of a file: the first line's.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the first byte of the line that holds `at`.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Returns the first byte of the line after the one that holds `at`; the end of the text on the last line.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// Returns the column of the keys of a block map, from 0.
pub(super) fn key_column(text: &str, map: &TreeNode) -> Option<usize> {
    let before = |at: usize| {
        let line = &text[line_start(text, at)..at];
        line.strip_prefix('\u{feff}').unwrap_or(line)
    };
    let starts: Vec<usize> = own_entries(map).iter().map(|entry| entry.key_span.start).collect();
    let alone = starts.iter().find(|at| before(**at).bytes().all(|b| b == b' '));
    let after_dash =
        || starts.iter().find(|at| before(**at).bytes().all(|b| matches!(b, b' ' | b'-' | b'?')));

    alone.or_else(after_dash).map(|at| before(*at).len())
}

/// Returns the column of the dashes of a block list, from 0.
pub(super) fn dash_column(text: &str, list: &TreeNode) -> Option<usize> {
    // An item may begin far to the right of its dash, as in `- - a`. The first dash of the line is the right
    // one if only spaces precede it.
    let first = list.as_seq()?.first()?;
    let start = first.used_at.unwrap_or(first.span).start.max(list.span.start);
    let line = line_start(text, start);
    let before = &text[line..start];
    let before = before.strip_prefix('\u{feff}').unwrap_or(before);
    let at = before.find('-')?;

    before[..at].bytes().all(|b| b == b' ').then_some(at)
}

/// Returns the indentation of block list items relative to their key in this file; 2 if there is no list.
pub(super) fn list_step(text: &str, node: &TreeNode) -> usize {
    fn look(text: &str, node: &TreeNode, column: usize) -> Option<usize> {
        if is_flow(text, node) {
            return None;
        }
        match &node.data {
            NodeValue::Map(_) => {
                let column = key_column(text, node).unwrap_or(column);
                own_entries(node).into_iter().find_map(|entry| {
                    let value = &entry.value;
                    if value.used_at.is_some() {
                        return None;
                    }
                    if value.as_seq().is_some_and(|items| !items.is_empty()) && !is_flow(text, value) {
                        return dash_column(text, value)?.checked_sub(column).filter(|step| *step <= 8);
                    }

                    look(text, value, column)
                })
            }
            NodeValue::Seq(items) => items.iter().find_map(|item| look(text, item, column)),
            _ => None,
        }
    }
    look(text, node, 0).unwrap_or(2)
}

/// Text to write: a value with its optional key and comment.
pub(super) struct EntryBlock<'v> {
    pub(super) comment: Option<&'v str>,
    /// Key; `None` for an item of a list.
    pub(super) key: Option<&'v str>,
    pub(super) value: &'v Value,
}

impl EntryBlock<'_> {
    /// Returns the lines of the block at a column, each with the line end.
    pub(super) fn text(&self, column: usize, step: usize, end: &str) -> String {
        let pad = " ".repeat(column);
        let comment = self.comment.into_iter().flat_map(str::lines).map(|line| format!("{pad}# {line}"));
        let mut body = Vec::new();
        match self.key {
            Some(key) => push_entry(key, self.value, column, step, &mut body),
            None => push_item(self.value, column, step, &mut body),
        }

        // A literal block is a single entry with several lines.
        comment
            .chain(body)
            .flat_map(|lines| lines.split('\n').map(|line| format!("{line}{end}")).collect::<Vec<_>>())
            .collect()
    }
}

/// Returns a value as JSON: on one line, or pretty-printed with the given indentation and line end.
pub(super) fn format_json(value: &Value, pretty: Option<(&str, usize, &str)>) -> String {
    let Some((pad, unit, end)) = pretty else { return format_spaced_json(value) };
    let unit = " ".repeat(unit);
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    if serde::Serialize::serialize(value, &mut serializer).is_err() {
        return value.to_string();
    }

    escape_for_yaml(&String::from_utf8_lossy(&bytes)).replace('\n', &format!("{end}{pad}"))
}

/// Returns JSON on one line with a space after each comma and colon.
fn format_spaced_json(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(format_spaced_json).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| {
                format!("{}: {}", format_spaced_json(&key.as_str().into()), format_spaced_json(value))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        leaf => escape_for_yaml(&leaf.to_string()),
    }
}

/// Escapes characters that may stand unescaped in JSON but not in YAML.
fn escape_for_yaml(json: &str) -> String {
    let special =
        |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if !json.chars().any(special) {
        return json.to_owned();
    }

    json.chars()
        .map(|c| if special(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() })
        .collect()
}
