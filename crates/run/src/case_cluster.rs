//! The cluster of a case: cases of one cluster are not independent of each other.

use assize_model::Case;
use serde_json::Value;

/// Metadata keys that name the cluster of a case, in order of precedence. The second is for answers graded
/// without a suite, whose unknown keys are metadata.
const CLUSTER_KEYS: [&str; 2] = ["cluster", "conversation_id"];

/// The cluster of a case: `metadata.cluster`, or else the conversation that the case is part of. Texts, numbers
/// and booleans are valid names; other values are ignored.
pub(crate) fn cluster_of_case(case: &Case) -> Option<String> {
    let named = |key: &str| match case.metadata.get(key)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        number @ (Value::Number(_) | Value::Bool(_)) => Some(number.to_string()),
        _ => None,
    };
    named(CLUSTER_KEYS[0]).or_else(|| case.conversation_id.clone()).or_else(|| named(CLUSTER_KEYS[1]))
}
