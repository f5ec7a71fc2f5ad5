//! The content of a usable reply.

use assize_rubric::JudgeConfidence;
use serde_json::{Map, Value};

/// The content of a usable reply: the thing decided and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedReply<T> {
    /// The thing decided.
    pub(crate) decided: T,
    /// The judge's reason.
    pub(crate) reason: String,
    /// Confidence the judge states.
    pub(crate) confidence: Option<JudgeConfidence>,
    /// Quotes, as the judge wrote them.
    pub(crate) evidence: Vec<String>,
}

impl<T> ParsedReply<T> {
    /// A reading whose reason and quotes may be left out of the reply.
    pub(super) fn new(decided: T, object: &Map<String, Value>) -> Self {
        Self {
            decided,
            reason: object.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
            confidence: None,
            evidence: string_list(object, "evidence"),
        }
    }
}

/// The strings of a list.
pub(super) fn string_list(object: &Map<String, Value>, key: &str) -> Vec<String> {
    let list = object.get(key).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
