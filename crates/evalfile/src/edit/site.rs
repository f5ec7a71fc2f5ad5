//! Candidate edits for writing a value, best first. The caller verifies the result of each.

use serde_json::Value;

use super::Change;
use super::layout::{Block, dash_column, json, key_column, line_end, line_start, list_step, next_line};
use super::shape::{Notation, content_end, entry_end, is_flow, own_entries};
use crate::tree::{Entry, Node};

/// A candidate edit.
pub(super) struct Site {
    pub(super) change: Change,
    /// True if the edit includes the comment.
    pub(super) commented: bool,
}

/// A file with its syntax and tree.
#[derive(Clone, Copy)]
pub(super) struct Page<'t> {
    pub(super) text: &'t str,
    pub(super) notation: Notation,
    pub(super) root: &'t Node,
}

impl Page<'_> {
    /// Returns candidate edits that add entries to a map. `comment` is included where comments are possible.
    pub(super) fn entry(
        &self,
        map: &Node,
        comment: &str,
        key: &str,
        value: &Value,
        mark: Option<&(String, Value)>,
    ) -> Vec<Site> {
        let own = own_entries(map);
        let Some(last) = own.iter().max_by_key(|entry| entry.key_span.start) else { return Vec::new() };
        if is_flow(self.text, map) {
            let end = entry_end(self.text, last);
            let mut text = self.flow_entry(map, last, key, value);
            if let Some((key, value)) = mark {
                text.push_str(&self.flow_entry(map, last, key, value));
            }
            return vec![Site { change: Change::insert(end, text), commented: false }];
        }
        let Some(column) = key_column(self.text, map) else { return Vec::new() };
        let block = Block { comment: Some(comment), key: Some(key), value };
        let text = block.text(column, list_step(self.text, self.root), line_end(self.text));
        let end = own.iter().map(|entry| entry_end(self.text, entry)).max().unwrap_or(last.key_span.end);
        let mut sites = self.below(end, column, &text);
        sites.push(self.below_line(last.value.span.end.max(end), &text));
        let second = own.get(1).map(|entry| line_start(self.text, entry.key_span.start));
        sites.extend(second.map(|at| Site { change: Change::insert(at, text), commented: true }));
        sites
    }

    /// Returns candidate edits that add an item to a list.
    pub(super) fn item(
        &self,
        list: &Node,
        comment: &str,
        value: &Value,
        mark: &(String, Value),
    ) -> Vec<Site> {
        let items = list.as_seq().unwrap_or_default();
        if is_flow(self.text, list) {
            let marked = with_mark(value, mark);
            let site = |change| vec![Site { change, commented: false }];
            let Some(last) = items.last() else {
                return site(Change::insert(list.span.start + 1, json(&marked, None)));
            };
            let start = last.used_at.unwrap_or(last.span).start;
            let text = match self.alone(start) {
                Some((pad, end)) => {
                    format!(",{end}{pad}{}", json(&marked, Some((pad, self.unit(pad, list), end))))
                }
                None => format!("{}{}", self.comma(), self.inline(&marked)),
            };
            return site(Change::insert(content_end(self.text, last), text));
        }
        let (Some(column), Some(last)) = (dash_column(self.text, list), items.last()) else {
            return Vec::new();
        };
        let block = Block { comment: Some(comment), key: None, value };
        let text = block.text(column, list_step(self.text, self.root), line_end(self.text));
        let end = content_end(self.text, last);
        let mut sites = self.below(end, column, &text);
        sites.push(self.below_line(last.span.end.max(end), &text));
        sites
    }

    /// Returns candidate edits that replace the value of an entry.
    pub(super) fn instead_of_entry(
        &self,
        map: &Node,
        entry: &Entry,
        comment: &str,
        value: &Value,
    ) -> Vec<Site> {
        let (start, end) = (entry.key_span.start, entry_end(self.text, entry));
        if is_flow(self.text, map) {
            let start = entry.value.used_at.unwrap_or(entry.value.span).start;
            return vec![replacement(start, end, self.inline(value), false)];
        }
        let Some(column) = key_column(self.text, map) else { return Vec::new() };
        // A key after a dash leaves no room for a comment above it.
        let alone = self.alone(start).is_some();
        let block = Block { comment: alone.then_some(comment), key: Some(&entry.key), value };
        let start = self.above(start, comment);
        vec![self.in_block(start, end, column, &block)]
    }

    /// Returns candidate edits that replace an item.
    pub(super) fn instead_of_item(
        &self,
        list: &Node,
        old: &Node,
        comment: &str,
        value: &Value,
        mark: &(String, Value),
    ) -> Vec<Site> {
        let (start, end) = (old.used_at.unwrap_or(old.span).start, content_end(self.text, old));
        if is_flow(self.text, list) {
            return vec![replacement(start, end, self.inline(&with_mark(value, mark)), false)];
        }
        let Some(column) = dash_column(self.text, list) else { return Vec::new() };
        let line = line_start(self.text, start);
        let Some(dash) = self.text[line..start].find('-').map(|at| line + at) else { return Vec::new() };
        let block = Block { comment: Some(comment), key: None, value };
        vec![self.in_block(self.above(dash, comment), end, column, &block)]
    }

    /// Returns the start of a replacement with a comment: an existing comment directly above with the same
    /// beginning is replaced too.
    fn above(&self, start: usize, comment: &str) -> usize {
        let line = line_start(self.text, start);
        if self.alone(start).is_none() || line == 0 {
            return start;
        }
        let before = line_start(self.text, line - 1);
        let text = &self.text[before..line];
        let head = comment.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        match text.trim().strip_prefix("# ") {
            Some(old) if old.starts_with(&head) => before + (text.len() - text.trim_start().len()),
            _ => start,
        }
    }

    /// Returns an edit that writes the block at a position whose line is indented already.
    fn in_block(&self, start: usize, end: usize, column: usize, block: &Block<'_>) -> Site {
        let line_end = line_end(self.text);
        let text = block.text(column, list_step(self.text, self.root), line_end);
        let text = text.strip_suffix(line_end).unwrap_or(&text);
        replacement(start, end, text.get(column..).unwrap_or_default().to_owned(), block.comment.is_some())
    }

    /// Returns edits that write below the line that holds `end`: after the comments that belong to it, or
    /// directly below.
    fn below(&self, end: usize, column: usize, text: &str) -> Vec<Site> {
        let mut at = end;
        loop {
            let next = next_line(self.text, at);
            let line = self.text[next..].lines().next().unwrap_or_default();
            let indent = line.len() - line.trim_start_matches(' ').len();
            if next >= self.text.len() || indent < column || !line.trim_start().starts_with('#') {
                break;
            }
            at = next;
        }
        let mut sites = vec![self.below_line(at, text)];
        if at != end {
            sites.push(self.below_line(end, text));
        }
        sites
    }

    fn below_line(&self, at: usize, text: &str) -> Site {
        let next = next_line(self.text, at.min(self.text.len()));
        let end = line_end(self.text);
        let ends_line = self.text[..next].ends_with('\n');
        let text = if ends_line {
            text.to_owned()
        } else {
            // A last line without a line end stays without one.
            format!("{end}{}", text.strip_suffix(end).unwrap_or(text))
        };
        Site { change: Change::insert(next, text), commented: true }
    }

    /// Returns an entry of a map with brackets, after a comma, in the style of the preceding entry.
    fn flow_entry(&self, map: &Node, last: &Entry, key: &str, value: &Value) -> String {
        let bare =
            !self.text[last.key_span.start..].starts_with(['"', '\'']) && self.notation == Notation::Yaml;
        let key = if bare && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            key.to_owned()
        } else {
            format!("\"{key}\"")
        };
        let alone = |entry: &Entry| self.alone(self.key_start(entry));
        let all = own_entries(map).first().is_some_and(|first| alone(first).is_some());
        match alone(last).filter(|_| all) {
            Some((pad, end)) => {
                format!(",{end}{pad}{key}: {}", json(value, Some((pad, self.unit(pad, map), end))))
            }
            None => format!(
                "{}{key}{}{}",
                self.comma(),
                if self.is_tight() { ":" } else { ": " },
                self.inline(value)
            ),
        }
    }

    /// Returns the first byte of the key of an entry, including its quotation mark.
    fn key_start(&self, entry: &Entry) -> usize {
        let start = entry.key_span.start;
        let quoted = self.notation != Notation::Yaml && self.text[..start].ends_with('"');
        start - usize::from(quoted)
    }

    fn inline(&self, value: &Value) -> String {
        if self.is_tight() { value.to_string() } else { json(value, None) }
    }

    fn comma(&self) -> &'static str {
        if self.is_tight() { "," } else { ", " }
    }

    /// Returns true if a line of a dataset is written without spaces.
    fn is_tight(&self) -> bool {
        self.notation == Notation::Lines
            && own_entries(self.root).windows(2).all(|pair| {
                let end = entry_end(self.text, pair[0]);
                !self.text[end..pair[1].key_span.start].contains(' ')
            })
    }

    /// Returns the indentation and line end of the line, if only blanks precede `at`.
    fn alone(&self, at: usize) -> Option<(&str, &'static str)> {
        let start = line_start(self.text, at);
        let pad = &self.text[start..at];
        (start > 0 && pad.bytes().all(|b| matches!(b, b' ' | b'\t'))).then(|| (pad, line_end(self.text)))
    }

    /// Returns the indentation of a collection's entries relative to the line that opens it.
    fn unit(&self, pad: &str, collection: &Node) -> usize {
        let line = &self.text[line_start(self.text, collection.span.start)..];
        let outer = line.len() - line.trim_start_matches([' ', '\t']).len();
        pad.len().saturating_sub(outer).clamp(1, 8)
    }
}

fn replacement(start: usize, end: usize, text: String, commented: bool) -> Site {
    Site { change: Change { start, end, text }, commented }
}

/// Returns an object with one more entry; any other value unchanged.
pub(super) fn with_mark(value: &Value, mark: &(String, Value)) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        map.insert(mark.0.clone(), mark.1.clone());
    }
    value
}
