//! Builders of tree nodes.

use std::collections::BTreeSet;

use assize_diagnostic::Span;
use assize_document::{MapEntry, NodeValue, TreeNode};
use assize_records::UniqueIds;

/// Returns a text node with the span that the text comes from.
pub(super) fn text_node(span: Span, text: impl Into<String>) -> TreeNode {
    TreeNode::new(span, NodeValue::Str(text.into()))
}

/// Returns a list.
pub(super) fn list_node(span: Span, items: Vec<TreeNode>) -> TreeNode {
    TreeNode::new(span, NodeValue::Seq(items))
}

/// A map that is built key by key.
#[derive(Debug)]
pub(super) struct MapNode {
    span: Span,
    entries: Vec<MapEntry>,
}

impl MapNode {
    /// Creates an empty map. Values that are added without a span get `span`.
    pub(super) fn new(span: Span) -> Self {
        Self { span, entries: Vec::new() }
    }

    /// Adds a value under a key that has its own span. If the key exists already, nothing changes.
    pub(super) fn add(&mut self, key: &str, key_span: Span, value: TreeNode) {
        if !self.has(key) {
            self.entries.push(MapEntry { key: key.to_owned(), key_span, value });
        }
    }

    /// Adds a text.
    pub(super) fn add_text(&mut self, key: &str, text: impl Into<String>) {
        self.add(key, self.span, text_node(self.span, text));
    }

    /// Adds a number.
    pub(super) fn add_number(&mut self, key: &str, span: Span, number: f64) {
        self.add(key, span, TreeNode::new(span, NodeValue::Float(number)));
    }

    /// Adds a boolean.
    pub(super) fn add_flag(&mut self, key: &str, flag: bool) {
        self.add(key, self.span, TreeNode::new(self.span, NodeValue::Bool(flag)));
    }

    /// Returns true if the map has the key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Returns the map as a node.
    pub(super) fn finish(self) -> TreeNode {
        TreeNode::new(self.span, NodeValue::Map(self.entries))
    }
}

/// Numbers the graders of a list that have the same name, since several assertions may measure one metric.
pub(super) fn number_names(graders: &mut [TreeNode]) {
    let names = graders.iter().filter_map(|node| node.get("name")?.as_str().map(str::to_owned));
    let mut ids: UniqueIds = names.collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for node in graders {
        let NodeValue::Map(entries) = &mut node.data else { continue };
        let Some(entry) = entries.iter_mut().find(|entry| entry.key == "name") else { continue };
        let NodeValue::Str(name) = &mut entry.value.data else { continue };
        if !seen.insert(name.clone()) {
            *name = ids.take(name);
        }
    }
}

/// Returns a JSON value as a node. All of its parts get `span`.
pub(super) fn json_node(span: Span, value: &serde_json::Value) -> TreeNode {
    use serde_json::Value;

    let data = match value {
        Value::Null => NodeValue::Null,
        Value::Bool(flag) => NodeValue::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => NodeValue::Int(whole),
            None => NodeValue::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => NodeValue::Str(text.clone()),
        Value::Array(items) => NodeValue::Seq(items.iter().map(|item| json_node(span, item)).collect()),
        Value::Object(map) => NodeValue::Map(
            map.iter()
                .map(|(key, value)| MapEntry {
                    key: key.clone(),
                    key_span: span,
                    value: json_node(span, value),
                })
                .collect(),
        ),
    };
    TreeNode::new(span, data)
}
