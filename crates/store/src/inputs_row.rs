//! Row of `inputs.jsonl`: what the result of a case depends on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CaseKey;

/// One row of `inputs.jsonl`: what a case's result rests on, as a hash. Written before the result itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputsRow {
    /// The case.
    #[serde(flatten)]
    pub key: CaseKey,
    /// Hash of everything that decides about the result, in the words of whoever runs the case.
    pub inputs: String,
}
