//! Comparison of two runs, case by case: significant and inconclusive differences.
//!
//! Design: `docs/design/comparisons.md`.

mod anytime;
mod aspect;
mod comparison_set;
mod flips;
mod gates;
mod labelled;
mod metric_difference;
mod mismatch;
mod options;
mod pairing;
mod pooled;
mod tables;
mod touched;
mod unknown;

pub use anytime::{AnytimeComparison, AnytimeTracker, CaseNumbers, compare_anytime};
pub use aspect::ComparisonAspect;
pub use comparison_set::{ChosenCandidate, ComparisonSet, compare_many};
pub use flips::{CriterionFlip, FlipSide, VerdictFlip};
pub use gates::{
    ComparisonGateResult, ComparisonGateStatus, ComparisonGates, FailOn, check_comparison_gates,
};
pub use labelled::{LabelledDifference, compare_labelled, find_unbound};
pub use metric_difference::{Conclusion, MetricDifference};
pub(crate) use metric_difference::{PairSample, compare_metric};
pub use mismatch::RunMismatch;
pub use options::{ComparisonOptions, HeadlineMetric, MetricUnit};
pub use pairing::{CaseName, IncompletePair, RunComparison, ScoreShifts, compare};
pub use pooled::{PooledDifference, PooledDifferences};
pub(crate) use tables::adjust_all;
pub use tables::{ComparisonGroup, ComparisonTable};
pub use touched::AllowedAspects;
pub use unknown::UnknownPairs;
