//! Ids of criteria.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Prefix of the generated ids of cases without an id.
const NUMBERED_CASE: &str = "row-";

/// Returns the id of a case that has none: the number of its row or line, from 1.
pub fn numbered_case_id(row: usize) -> String {
    format!("{NUMBERED_CASE}{row}")
}

/// Returns true if an id is a [`numbered_case_id`].
pub fn is_numbered_case_id(id: &str) -> bool {
    id.strip_prefix(NUMBERED_CASE).is_some_and(|row| row.parse::<u64>().is_ok())
}

/// Returns an id or another name in the form in which names are compared between files. `é` can be one character, or an `e`
/// and an accent: every name becomes the first (Unicode's form NFC). Names in that form, such as all of ASCII, keep their bytes.
pub fn composed_name<T: AsRef<str> + From<String>>(name: T) -> T {
    let text = name.as_ref();
    if text.is_ascii() || is_nfc(text) { name } else { text.nfc().collect::<String>().into() }
}

/// Criterion id, unique in its rubric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CriterionId(Arc<str>);

impl CriterionId {
    /// Creates an id, in the form of [`composed_name`].
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(composed_name(id.into()))
    }

    /// Returns the default id of a criterion without one: `rubric-1` for the first.
    pub fn from_position(index: usize) -> Self {
        const FIRST: [&str; 8] =
            ["rubric-1", "rubric-2", "rubric-3", "rubric-4", "rubric-5", "rubric-6", "rubric-7", "rubric-8"];
        match FIRST.get(index) {
            Some(id) => Self::new(*id),
            None => Self::new(format!("rubric-{}", index + 1)),
        }
    }

    /// The id as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<CriterionId> for Arc<str> {
    fn from(id: CriterionId) -> Self {
        id.0
    }
}

impl fmt::Display for CriterionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
