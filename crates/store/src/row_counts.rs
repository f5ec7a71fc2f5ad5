//! Numbers of rows of a run that has ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows of a run when it ended, by which readers notice that some were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RowCounts {
    /// Rows of `results.jsonl`.
    pub results: u64,
    /// Rows of `judgements.jsonl`.
    pub judgements: u64,
    /// Rows of `questions.jsonl`; absent in runs of versions that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
}

/// The part of `run.json` that readers of rows need.
#[derive(Deserialize)]
pub(crate) struct RowCountsHeader {
    #[serde(default)]
    pub(crate) rows: Option<RowCounts>,
}
