//! Nodes of the tree.

use assize_diagnostic::Span;
use serde_json::{Map, Number, Value};

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Span of the value. For an alias this is the anchored text; see `used_at`.
    pub(crate) span: Span,
    /// Span of the alias (`*name`) that the value came through, if any.
    pub(crate) used_at: Option<Span>,
    pub(crate) data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Int(i64),
    /// May be NaN or infinite: YAML can express those.
    Float(f64),
    Str(String),
    Seq(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key and its value. Keys are unique in their map and kept in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn new(span: Span, data: Data) -> Self {
        Self { span, used_at: None, data }
    }

    /// Returns the span for diagnostics about this value: that of its use.
    pub(crate) fn place(&self) -> Span {
        self.used_at.unwrap_or(self.span)
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::Str(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_seq(&self) -> Option<&[Node]> {
        match &self.data {
            Data::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&[Entry]> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the value under a key, if this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.data == Data::Null
    }

    /// Returns the type of the value, for "found ...".
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "a boolean",
            Data::Int(_) => "a whole number",
            Data::Float(_) => "a number",
            Data::Str(_) => "a string",
            Data::Seq(_) => "a list",
            Data::Map(_) => "a map",
        }
    }

    /// Returns the value as JSON, without spans. NaN and infinities become strings, since JSON has no such
    /// numbers.
    pub(crate) fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Int(value) => Value::Number((*value).into()),
            Data::Float(value) => {
                Number::from_f64(*value).map_or_else(|| Value::String(value.to_string()), Value::Number)
            }
            Data::Str(text) => Value::String(text.clone()),
            Data::Seq(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Data::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }
}
