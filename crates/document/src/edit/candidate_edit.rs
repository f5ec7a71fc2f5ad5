//! Possible edits that write a value into a file, best first. The caller tries them in order and verifies each
//! result.

use serde_json::Value;

use super::TextChange;
use super::layout::{
    EntryBlock, dash_column, format_json, key_column, line_end, line_start, list_step, next_line,
};
use super::tree_path::{FileSyntax, content_end, entry_end, is_flow, own_entries};
use crate::tree::{MapEntry, TreeNode};

/// A candidate edit.
pub(super) struct CandidateEdit {
    pub(super) change: TextChange,
    /// True if the edit includes the comment.
    pub(super) commented: bool,
}

/// A file with its syntax and tree.
#[derive(Clone, Copy)]
pub(super) struct EditableFile<'t> {
    pub(super) text: &'t str,
    pub(super) notation: FileSyntax,
    pub(super) root: &'t TreeNode,
}

impl EditableFile<'_> {
    /// Returns candidate edits that add entries to a map. `comment` is included where comments are possible.
    pub(super) fn entry_edits(
        &self,
        map: &TreeNode,
        comment: &str,
        key: &str,
        value: &Value,
        mark: Option<&(String, Value)>,
    ) -> Vec<CandidateEdit> {
        let own = own_entries(map);
        let Some(last) = own.iter().max_by_key(|entry| entry.key_span.start) else { return Vec::new() };
        if is_flow(self.text, map) {
            let end = entry_end(self.text, last);
            let mut text = self.flow_entry(map, last, key, value);
            if let Some((key, value)) = mark {
                text.push_str(&self.flow_entry(map, last, key, value));
            }

            return vec![CandidateEdit { change: TextChange::insert(end, text), commented: false }];
        }

        let Some(column) = key_column(self.text, map) else { return Vec::new() };
        let block = EntryBlock { comment: Some(comment), key: Some(key), value };
        let text = block.text(column, list_step(self.text, self.root), line_end(self.text));
        let end = own.iter().map(|entry| entry_end(self.text, entry)).max().unwrap_or(last.key_span.end);
        let mut sites = self.edits_below(end, column, &text);
        sites.push(self.edit_below_line(last.value.span.end.max(end), &text));

        let second = own.get(1).map(|entry| line_start(self.text, entry.key_span.start));
        sites
            .extend(second.map(|at| CandidateEdit { change: TextChange::insert(at, text), commented: true }));

        sites
    }

    /// Returns candidate edits that add an item to a list.
    pub(super) fn item_edits(
        &self,
        list: &TreeNode,
        comment: &str,
        value: &Value,
        mark: &(String, Value),
    ) -> Vec<CandidateEdit> {
        let items = list.as_seq().unwrap_or_default();
        if is_flow(self.text, list) {
            let marked = with_mark(value, mark);
            let site = |change| vec![CandidateEdit { change, commented: false }];
            let Some(last) = items.last() else {
                return site(TextChange::insert(list.span.start + 1, format_json(&marked, None)));
            };
            let start = last.used_at.unwrap_or(last.span).start;
            let text = match self.line_indent(start) {
                Some((pad, end)) => {
                    format!(
                        ",{end}{pad}{}",
                        format_json(&marked, Some((pad, self.indent_step(pad, list), end)))
                    )
                }
                None => format!("{}{}", self.separator(), self.format_inline(&marked)),
            };

            return site(TextChange::insert(content_end(self.text, last), text));
        }

        let (Some(column), Some(last)) = (dash_column(self.text, list), items.last()) else {
            return Vec::new();
        };
        let block = EntryBlock { comment: Some(comment), key: None, value };
        let text = block.text(column, list_step(self.text, self.root), line_end(self.text));
        let end = content_end(self.text, last);
        let mut sites = self.edits_below(end, column, &text);
        sites.push(self.edit_below_line(last.span.end.max(end), &text));

        sites
    }

    /// Returns candidate edits that replace the value of an entry.
    pub(super) fn replace_entry_edits(
        &self,
        map: &TreeNode,
        entry: &MapEntry,
        comment: &str,
        value: &Value,
    ) -> Vec<CandidateEdit> {
        let (start, end) = (entry.key_span.start, entry_end(self.text, entry));
        if is_flow(self.text, map) {
            let start = entry.value.used_at.unwrap_or(entry.value.span).start;
            return vec![replace_range(start, end, self.format_inline(value), false)];
        }

        let Some(column) = key_column(self.text, map) else { return Vec::new() };
        // There is no room for a comment above a key that follows a dash on the same line.
        let alone = self.line_indent(start).is_some();
        let block = EntryBlock { comment: alone.then_some(comment), key: Some(&entry.key), value };
        let start = self.start_above(start, comment);

        vec![self.block_edit(start, end, column, &block)]
    }

    /// Returns candidate edits that replace an item.
    pub(super) fn replace_item_edits(
        &self,
        list: &TreeNode,
        old: &TreeNode,
        comment: &str,
        value: &Value,
        mark: &(String, Value),
    ) -> Vec<CandidateEdit> {
        let (start, end) = (old.used_at.unwrap_or(old.span).start, content_end(self.text, old));
        if is_flow(self.text, list) {
            return vec![replace_range(start, end, self.format_inline(&with_mark(value, mark)), false)];
        }

        let Some(column) = dash_column(self.text, list) else { return Vec::new() };
        let line = line_start(self.text, start);
        let Some(dash) = self.text[line..start].find('-').map(|at| line + at) else { return Vec::new() };
        let block = EntryBlock { comment: Some(comment), key: None, value };

        vec![self.block_edit(self.start_above(dash, comment), end, column, &block)]
    }

    /// Returns where a replacement that includes a comment begins. If the line directly above is a comment that
    /// begins with the same two words, it is replaced too.
    fn start_above(&self, start: usize, comment: &str) -> usize {
        let line = line_start(self.text, start);
        if self.line_indent(start).is_none() || line == 0 {
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

    /// Returns an edit that writes the block at a position that is already indented.
    fn block_edit(&self, start: usize, end: usize, column: usize, block: &EntryBlock<'_>) -> CandidateEdit {
        let line_end = line_end(self.text);
        let text = block.text(column, list_step(self.text, self.root), line_end);
        let text = text.strip_suffix(line_end).unwrap_or(&text);
        replace_range(start, end, text.get(column..).unwrap_or_default().to_owned(), block.comment.is_some())
    }

    /// Returns edits that insert below the line of `end`: first after the comments that follow it, then
    /// directly below it.
    fn edits_below(&self, end: usize, column: usize, text: &str) -> Vec<CandidateEdit> {
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

        let mut sites = vec![self.edit_below_line(at, text)];
        if at != end {
            sites.push(self.edit_below_line(end, text));
        }

        sites
    }

    fn edit_below_line(&self, at: usize, text: &str) -> CandidateEdit {
        let next = next_line(self.text, at.min(self.text.len()));
        let end = line_end(self.text);
        let ends_line = self.text[..next].ends_with('\n');
        let text = if ends_line {
            text.to_owned()
        } else {
            // If the last line of the file has no line end, none is added.
            format!("{end}{}", text.strip_suffix(end).unwrap_or(text))
        };

        CandidateEdit { change: TextChange::insert(next, text), commented: true }
    }

    /// Returns an entry for a map in braces, with the comma before it, in the style of the preceding entry.
    fn flow_entry(&self, map: &TreeNode, last: &MapEntry, key: &str, value: &Value) -> String {
        let bare =
            !self.text[last.key_span.start..].starts_with(['"', '\'']) && self.notation == FileSyntax::Yaml;
        let key = if bare && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            key.to_owned()
        } else {
            format!("\"{key}\"")
        };

        let alone = |entry: &MapEntry| self.line_indent(self.key_start(entry));
        let all = own_entries(map).first().is_some_and(|first| alone(first).is_some());
        match alone(last).filter(|_| all) {
            Some((pad, end)) => {
                format!(
                    ",{end}{pad}{key}: {}",
                    format_json(value, Some((pad, self.indent_step(pad, map), end)))
                )
            }
            None => format!(
                "{}{key}{}{}",
                self.separator(),
                if self.is_tight() { ":" } else { ": " },
                self.format_inline(value)
            ),
        }
    }

    /// Returns the first byte of the key of an entry, including its quotation mark.
    fn key_start(&self, entry: &MapEntry) -> usize {
        let start = entry.key_span.start;
        let quoted = self.notation != FileSyntax::Yaml && self.text[..start].ends_with('"');
        start - usize::from(quoted)
    }

    fn format_inline(&self, value: &Value) -> String {
        if self.is_tight() { value.to_string() } else { format_json(value, None) }
    }

    fn separator(&self) -> &'static str {
        if self.is_tight() { "," } else { ", " }
    }

    /// Returns true if a line of a dataset is JSON without spaces.
    fn is_tight(&self) -> bool {
        self.notation == FileSyntax::Lines
            && own_entries(self.root).windows(2).all(|pair| {
                let end = entry_end(self.text, pair[0]);
                !self.text[end..pair[1].key_span.start].contains(' ')
            })
    }

    /// Returns the indentation and line end of a line, if there are only blanks before `at`.
    fn line_indent(&self, at: usize) -> Option<(&str, &'static str)> {
        let start = line_start(self.text, at);
        let pad = &self.text[start..at];
        (start > 0 && pad.bytes().all(|b| matches!(b, b' ' | b'\t'))).then(|| (pad, line_end(self.text)))
    }

    /// Returns the indentation of a collection's entries relative to the line that opens it.
    fn indent_step(&self, pad: &str, collection: &TreeNode) -> usize {
        let line = &self.text[line_start(self.text, collection.span.start)..];
        let outer = line.len() - line.trim_start_matches([' ', '\t']).len();
        pad.len().saturating_sub(outer).clamp(1, 8)
    }
}

fn replace_range(start: usize, end: usize, text: String, commented: bool) -> CandidateEdit {
    CandidateEdit { change: TextChange { start, end, text }, commented }
}

/// Returns an object with one more entry; any other value is returned unchanged.
pub(super) fn with_mark(value: &Value, mark: &(String, Value)) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        map.insert(mark.0.clone(), mark.1.clone());
    }
    value
}
