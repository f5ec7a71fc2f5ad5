//! Row of `questions.jsonl`: what was asked, once for all results with the same question.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row of `questions.jsonl`: what was asked and expected. Results with the same `case_hash` share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionRow {
    /// Hash of what was asked and expected, as in `results.jsonl`.
    pub case_hash: String,
    /// The question; null if none was given.
    pub question: Option<String>,
    /// Expected outcome, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// The reference answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}
