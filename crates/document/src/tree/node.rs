//! Nodes of the tree.

use std::ops::AddAssign;

use assize_diagnostic::Span;
pub(crate) use assize_limits::WEIGHED_TEXT_BYTES;
use assize_limits::{MEMBER_BYTES, VALUE_BYTES};
use serde_json::{Map, Number, Value};

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// Span of the value. For an alias this is the anchored text; see `used_at`.
    pub span: Span,
    /// Span of the alias (`*name`) that the value is used through, if any.
    pub used_at: Option<Span>,
    /// The value itself.
    pub data: NodeValue,
}

/// An estimate of the memory that values take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ValueSize {
    /// Bytes of texts and keys.
    pub texts: usize,
    /// Bytes of their containers.
    pub values: usize,
}

impl ValueSize {
    /// All bytes.
    pub const fn total(self) -> usize {
        self.texts + self.values
    }
}

impl AddAssign for ValueSize {
    fn add_assign(&mut self, other: Self) {
        self.texts += other.texts;
        self.values += other.values;
    }
}

/// A value of YAML or JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// `null`, `~` or no value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or an exponent. May be NaN or infinite: YAML can express those.
    Float(f64),
    /// A text.
    Str(String),
    /// A list.
    Seq(Vec<TreeNode>),
    /// A map.
    Map(Vec<MapEntry>),
}

/// A key and its value. Keys are unique in their map and kept in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    /// The key.
    pub key: String,
    /// Span of the key.
    pub key_span: Span,
    /// The value.
    pub value: TreeNode,
}

impl TreeNode {
    /// A measure of its memory: one for each value and each key, and one for each [`WEIGHED_TEXT_BYTES`] of a text.
    pub fn weight(&self) -> usize {
        let inner: usize = match &self.data {
            NodeValue::Str(text) => text.len() / WEIGHED_TEXT_BYTES,
            NodeValue::Seq(items) => items.iter().map(Self::weight).sum(),
            NodeValue::Map(entries) => entries
                .iter()
                .map(|entry| 1 + entry.key.len() / WEIGHED_TEXT_BYTES + entry.value.weight())
                .sum(),
            _ => 0,
        };
        1 + inner
    }

    /// The memory that the value takes.
    pub fn size(&self) -> ValueSize {
        let mut size = ValueSize { texts: 0, values: VALUE_BYTES };
        match &self.data {
            NodeValue::Str(text) => size.texts += text.len(),
            NodeValue::Seq(items) => items.iter().for_each(|item| size += item.size()),
            NodeValue::Map(entries) => {
                for entry in entries {
                    size += ValueSize { texts: entry.key.len(), values: MEMBER_BYTES };
                    size += entry.value.size();
                }
            }
            _ => {}
        }
        size
    }

    /// Creates a node that did not come through an alias.
    pub fn new(span: Span, data: NodeValue) -> Self {
        Self { span, used_at: None, data }
    }

    /// Returns the span for diagnostics about this value: where it is used.
    pub fn use_span(&self) -> Span {
        self.used_at.unwrap_or(self.span)
    }

    /// Returns the text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            NodeValue::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items, if this is a list.
    pub fn as_seq(&self) -> Option<&[TreeNode]> {
        match &self.data {
            NodeValue::Seq(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries, if this is a map.
    pub fn as_map(&self) -> Option<&[MapEntry]> {
        match &self.data {
            NodeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value under a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&TreeNode> {
        self.as_map()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Returns true for `null`.
    pub fn is_null(&self) -> bool {
        self.data == NodeValue::Null
    }

    /// Returns the type of the value, for "found ...".
    pub fn type_name(&self) -> &'static str {
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
    pub fn to_json(&self) -> Value {
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
