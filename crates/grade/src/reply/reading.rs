//! The content of a usable reply.

use assize_rubric::{Finding, JudgeConfidence};
use serde_json::{Map, Value};

/// The content of a usable reply: the decision and its grounds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedReply<T> {
    /// The decision.
    pub(crate) decided: T,
    /// The judge's reason.
    pub(crate) reason: String,
    /// Confidence that the judge states.
    pub(crate) confidence: Option<JudgeConfidence>,
    /// Quotes as the judge wrote them.
    pub(crate) evidence: Vec<String>,
}

impl<T: Into<Finding>> ParsedReply<T> {
    pub(crate) fn into_finding(self) -> ParsedReply<Finding> {
        let Self { decided, reason, confidence, evidence } = self;
        ParsedReply { decided: decided.into(), reason, confidence, evidence }
    }
}

impl<T> ParsedReply<T> {
    /// Builds the content of a reply in which reason and quotes are optional.
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
