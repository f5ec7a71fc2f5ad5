//! Element at the cursor and its position in the document.

use crate::schema_place::{SchemaPlace, SiblingScalars};

/// Context of a cursor position in a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CursorContext {
    /// Enclosing keys, outermost first.
    pub(crate) path: Vec<String>,
    /// Scalars of the same map, by key.
    pub(crate) beside: SiblingScalars,
    /// Item that the cursor touches.
    pub(crate) at: CursorItem,
}

/// Item that the cursor touches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum CursorItem {
    /// A key, or the beginning of one.
    Key(String),
    /// The value of a key, or an item of its list; `key` is blank if there is none.
    Value {
        key: String,
        /// Value as written, without quotation marks.
        text: String,
    },
    /// Neither.
    #[default]
    Nothing,
}

impl CursorContext {
    /// Returns the place in the schema, starting at the root of the named schema.
    pub(crate) fn schema_place(&self, schema: &str) -> Option<SchemaPlace<'static>> {
        let top = SchemaPlace::root(schema)?;
        Some(self.path.iter().fold(top, |shape, key| shape.child(key)))
    }
}
