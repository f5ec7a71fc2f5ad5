//! Row of `inputs.jsonl`: the hash of the inputs of a case.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CaseKey;

/// A row of `inputs.jsonl`: a hash of everything that a case's result depends on. Written before the result itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputsRow {
    /// The case.
    #[serde(flatten)]
    pub key: CaseKey,
    /// Hash of everything that affects the result. The code that runs the case determines its content.
    pub inputs: String,
}
