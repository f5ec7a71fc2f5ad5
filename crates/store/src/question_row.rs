//! Row of `questions.jsonl`: a question, stored once for all results that share it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line of `questions.jsonl`: a question and its expectations. Results with the same `case_hash` share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionRow {
    /// Hash of the question and expectations, as in `results.jsonl`.
    pub case_hash: String,
    /// Question; null if there is none.
    pub question: Option<String>,
    /// Description of a good answer, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Reference answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}
