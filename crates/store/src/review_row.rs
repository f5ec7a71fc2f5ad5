//! A line of `review.jsonl`.

use assize_rubric::{BenchmarkState, UnitInterval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line of `review.jsonl`: a case of a benchmark that a person should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRow {
    /// Id of the case.
    pub case_id: String,
    /// Code of the benchmark.
    pub benchmark: String,
    /// State that needs a person: `uncertain`, `waiting`, `reviewers_differ`, `judges_differ`, or `missing` where no judge
    /// could be made to answer.
    pub why: BenchmarkState,
    /// Evaluator that should have judged it, such as `manual_sme`.
    pub evaluator: String,
    /// Reason given so far; empty if nobody looked at it.
    pub reason: String,
    /// The score it counts with until a person decides; null while it counts as missing.
    pub score: Option<UnitInterval>,
}
