//! Builder of an eval file of format 2, the output of all importers.

use assize_records::UniqueIds;
use serde_json::{Map, Value, json};

/// Cases and their common settings, in the spelling of format 2.
#[derive(Debug, Clone, Default)]
pub(crate) struct EvalFileBuilder {
    pub(crate) head: Map<String, Value>,
    pub(crate) cases: Vec<Value>,
    ids: UniqueIds,
}

impl EvalFileBuilder {
    pub(crate) fn with_name(name: &str) -> Self {
        let mut head = Map::new();
        head.insert("name".to_owned(), json!(name));
        Self { head, ..Self::default() }
    }

    /// Creates a builder that holds cases, whose ids differ.
    pub(crate) fn with_cases(head: Map<String, Value>, cases: Vec<Value>) -> Self {
        Self { head, cases, ..Self::default() }
    }

    /// Returns a case id that is not taken yet.
    pub(crate) fn unique_id(&mut self, wish: &str) -> String {
        self.ids.take(wish)
    }

    /// Returns the document as one value.
    pub(crate) fn into_value(self) -> Value {
        let mut map = self.head;
        map.insert("tests".to_owned(), Value::Array(self.cases));
        Value::Object(map)
    }
}

/// Returns the first words of a text as an id.
pub(crate) fn slug(text: &str, words: usize) -> String {
    let parts: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .map(str::to_lowercase)
        .take(words)
        .collect();
    parts.join("-").chars().take(60).collect()
}

/// Returns true if a text contains template markers, which must be escaped: templates are filled in when an
/// eval file is read.
pub(crate) fn has_template(text: &str) -> bool {
    text.contains("{{") || text.contains("${{")
}
