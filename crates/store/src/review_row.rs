//! A line of `review.jsonl`.

use assize_rubric::{BenchmarkState, UnitInterval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line of `review.jsonl`: a benchmark result that a person should review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRow {
    /// Id of the case.
    pub case_id: String,
    /// Benchmark code.
    pub benchmark: String,
    /// Reason why a person is needed: `uncertain`, `waiting`, `reviewers_differ`, `judges_differ`, or `missing` (no usable
    /// decision of a judge).
    pub why: BenchmarkState,
    /// Evaluator type of the benchmark, such as `manual_sme`.
    pub evaluator: String,
    /// Reason so far; empty if there is none.
    pub reason: String,
    /// Score that counts until a person decides; null if it counts as missing.
    pub score: Option<UnitInterval>,
}
