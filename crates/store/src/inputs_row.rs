//! Row of `inputs.jsonl`: what the result of a case depends on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CaseKey;

/// One row of `inputs.jsonl`: a hash of everything that a case's result depends on. Written before the result itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputsRow {
    /// The case.
    #[serde(flatten)]
    pub key: CaseKey,
    /// Hash of everything that affects the result; whoever runs the case decides what it covers.
    pub inputs: String,
}
