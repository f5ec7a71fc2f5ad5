//! The parts of a scorecard in the result of a sample.

use assize_rubric::{BenchmarkState, DecidedBy, NodeStatus, UnitInterval, Weight};
use assize_store::ScorecardPartKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Score of a part of a scorecard.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScorecardPartResult {
    /// Its code.
    pub code: String,
    /// Its display name.
    pub label: Option<String>,
    /// Kind of the part.
    pub kind: ScorecardPartKind,
    /// Code of the parent part; null for the top.
    pub parent: Option<String>,
    /// Its weight among its siblings.
    pub weight: Weight,
    /// The score it must reach.
    pub threshold: UnitInterval,
    /// True if missing the threshold blocks every level above.
    pub hard_gate: bool,
    /// Its verdict.
    #[serde(rename = "verdict")]
    pub status: NodeStatus,
    /// The score, 0 to 1; null while open benchmarks could change it, and where nothing applies.
    pub score: Option<f64>,
    /// Lowest score that open benchmarks could lead to.
    pub score_low: Option<f64>,
    /// Highest score that open benchmarks could lead to.
    pub score_high: Option<f64>,
    /// Share of the applicable weight below that has a result, 0 to 1.
    pub coverage: Option<f64>,
    /// Codes of the hard gates that failed at or below it.
    pub blocked_by: Vec<String>,
    /// Decision on a benchmark that applies; null for other parts.
    pub decision: Option<BenchmarkResult>,
}

/// Decision on a benchmark.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BenchmarkResult {
    /// State of the benchmark.
    pub state: BenchmarkState,
    /// True if the sample passes; null where nothing was decided.
    pub pass: Option<bool>,
    /// Source of the decision; null where there is none.
    pub decided_by: Option<DecidedBy>,
    /// Reason of the decision, or reason there is none.
    pub reason: String,
}
