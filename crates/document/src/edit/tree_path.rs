//! The text of a file as a tree, and paths in it.

use std::path::Path;

use assize_diagnostic::{SourceMap, Span};
use serde_json::Value;

use super::EditError;
use crate::diagnostic_collector::DiagnosticCollector;
use crate::tree::{MapEntry, NodeValue, TreeNode, read_json, read_yaml};

/// Syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileSyntax {
    Yaml,
    Json,
    /// One JSON object on each line.
    Lines,
}

/// A step of a path from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    Key(String),
    Index(usize),
}

/// Parses a text. Any diagnostic counts as an error.
pub(super) fn parse_text(text: &str, notation: FileSyntax) -> Result<TreeNode, EditError> {
    let mut sources = SourceMap::new();
    // The name is never shown, because a diagnostic here only means that the text must not be changed.
    let source = sources.add(Path::new("text"), text);
    let mut problems = DiagnosticCollector::default();
    let node = match notation {
        FileSyntax::Yaml => read_yaml(&sources, source, &mut problems),
        FileSyntax::Json | FileSyntax::Lines => read_json(&sources, source, &mut problems),
    };

    node.filter(|_| problems.error_count() == 0).ok_or(EditError::Unreadable)
}

/// Returns the value at the end of a path.
pub(super) fn value_at<'n>(root: &'n TreeNode, steps: &[PathStep]) -> Option<&'n TreeNode> {
    steps.iter().try_fold(root, |node, step| match step {
        PathStep::Key(key) => node.get(key),
        PathStep::Index(index) => node.as_seq()?.get(*index),
    })
}

/// Returns the value at the end of a path in a JSON value.
pub(super) fn json_value_at<'v>(root: &'v mut Value, steps: &[PathStep]) -> Option<&'v mut Value> {
    steps.iter().try_fold(root, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(index) => value.get_mut(*index),
    })
}

/// Returns true if any value on the path is used through an alias.
pub(super) fn passes_alias(root: &TreeNode, steps: &[PathStep]) -> bool {
    (0..=steps.len())
        .any(|length| value_at(root, &steps[..length]).is_some_and(|node| node.used_at.is_some()))
}

/// Returns the entries that are written in the map itself, in the order of the text. Entries of merged maps are
/// recognised by their spans, which are before the map.
pub(super) fn own_entries(map: &TreeNode) -> Vec<&MapEntry> {
    let inside = |span: Span| span.start >= map.span.start;
    map.as_map().unwrap_or_default().iter().filter(|entry| inside(entry.key_span)).collect()
}

/// Returns true if a collection is written with brackets.
pub(super) fn is_flow(text: &str, node: &TreeNode) -> bool {
    text[node.span.start..].starts_with(['{', '['])
}

/// Returns the end of a value's visible content, without the blank lines that some spans include.
pub(super) fn content_end(text: &str, node: &TreeNode) -> usize {
    if let Some(alias) = node.used_at {
        return alias.end;
    }

    let last = match &node.data {
        NodeValue::Seq(_) | NodeValue::Map(_) if is_flow(text, node) => None,
        NodeValue::Seq(items) => items.iter().map(|item| content_end(text, item)).max(),
        NodeValue::Map(_) => own_entries(node).into_iter().map(|entry| entry_end(text, entry)).max(),
        _ => None,
    };
    last.unwrap_or_else(|| node.span.start + text[node.span.start..node.span.end].trim_end().len())
}

/// Returns the end of an entry.
pub(super) fn entry_end(text: &str, entry: &MapEntry) -> usize {
    // An empty value has a span, but no text.
    let empty = entry.value.used_at.is_none()
        && entry.value.is_null()
        && text[entry.value.span.start..entry.value.span.end].trim().is_empty();
    if empty { entry.key_span.end } else { content_end(text, &entry.value).max(entry.key_span.end) }
}
