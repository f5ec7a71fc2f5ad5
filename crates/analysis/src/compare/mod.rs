//! Comparison of two runs, case by case: significant and inconclusive differences.

mod comparison_set;
mod flips;
mod gates;
mod metric_difference;
mod mismatch;
mod pairing;
mod tables;

use assize_stats::{ConfidenceLevel, multiplicity::PValueAdjustment};

pub use comparison_set::{ComparisonSet, compare_many};
pub use flips::{CriterionFlip, FlipSide, VerdictFlip};
pub use gates::{
    ComparisonGateResult, ComparisonGateStatus, ComparisonGates, FailOn, check_comparison_gates,
};
pub use metric_difference::{Conclusion, MetricDifference};
pub use mismatch::{ComparisonAspect, RunMismatch};
pub use pairing::{CaseName, HeadlineMetric, IncompletePair, RunComparison, compare};
pub use tables::{ComparisonGroup, ComparisonTable, MIN_PAIRS};

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonOptions {
    /// Confidence level of intervals; a test is significant if its p value is at most 1 minus this.
    pub level: ConfidenceLevel,
    /// Largest irrelevant difference, 0 to 1.
    pub margin: Option<f64>,
    /// Metric of the overall conclusion.
    pub headline: HeadlineMetric,
    /// Adjustment of p values that are reported together; `None` for no adjustment.
    pub adjustment: Option<PValueAdjustment>,
    /// True to bootstrap intervals of score differences instead of using Student's t.
    pub bootstrap: bool,
    /// Seed of all random draws.
    pub seed: u64,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self {
            level: ConfidenceLevel::P95,
            margin: None,
            headline: HeadlineMetric::Score,
            adjustment: Some(PValueAdjustment::Holm),
            bootstrap: false,
            seed: 1,
        }
    }
}
