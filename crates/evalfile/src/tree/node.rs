//! Nodes of the tree.

use assize_diagnostic::Span;
use serde_json::{Map, Number, Value};

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeNode {
    /// Span of the value. For an alias: the span of the anchored text; `used_at` is the span of the alias.
    pub(crate) span: Span,
    /// Span of the alias (`*name`) that the value came through, if any.
    pub(crate) used_at: Option<Span>,
    pub(crate) data: NodeValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeValue {
    Null,
    Bool(bool),
    Int(i64),
    /// May be NaN or infinite: YAML can express those.
    Float(f64),
    Str(String),
    Seq(Vec<TreeNode>),
    Map(Vec<MapEntry>),
}

/// A key and its value. Keys are unique in their map and kept in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MapEntry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: TreeNode,
}

impl TreeNode {
    pub(crate) fn new(span: Span, data: NodeValue) -> Self {
        Self { span, used_at: None, data }
    }

    /// Returns the span to use in diagnostics about this value. For an alias that is where it is used, not
    /// where it was anchored.
    pub(crate) fn use_span(&self) -> Span {
        self.used_at.unwrap_or(self.span)
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.data {
            NodeValue::Str(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_seq(&self) -> Option<&[TreeNode]> {
        match &self.data {
            NodeValue::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&[MapEntry]> {
        match &self.data {
            NodeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value under a key, if this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&TreeNode> {
        self.as_map()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.data == NodeValue::Null
    }

    /// Returns the type of the value, for "found ...".
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.data {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Int(_) => "a whole number",
            NodeValue::Float(_) => "a number",
            NodeValue::Str(_) => "a string",
            NodeValue::Seq(_) => "a list",
            NodeValue::Map(_) => "a map",
        }
    }

    /// Returns the value as JSON, without spans. NaN and infinities become strings, since JSON has no such
    /// numbers.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Int(value) => Value::Number((*value).into()),
            NodeValue::Float(value) => {
                Number::from_f64(*value).map_or_else(|| Value::String(value.to_string()), Value::Number)
            }
            NodeValue::Str(text) => Value::String(text.clone()),
            NodeValue::Seq(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}
