//! Analysis of stored runs and labels, with uncertainty.
//!
//! Pure functions from stored rows to values with intervals. The formulas are in `assize-stats`; this crate
//! selects the formula for each question, pairs cases, and reports excluded cases.
//!
//! Rules that hold throughout: an ungraded decision is never counted as 0, a metric that can't be computed is
//! undefined with a reason, and related cases form clusters, over which errors are computed.

#![warn(missing_docs)]

pub mod calibrate;
mod case_metrics;
mod case_trials;
pub mod claims;
pub mod compare;
mod conclusion;
pub mod criteria;
mod criterion_sample;
mod derived;
pub mod drift;
mod exit;
mod facts;
pub mod labels;
pub mod matrix;
mod metric;
mod noise;
pub mod orders;
pub mod pairwise;
pub mod panel;
mod pass_rate;
mod pass_rate_gate;
pub mod power;
mod published_means;
pub mod raters;
pub mod repeats;
mod sample;
mod scorecard;
mod shared_texts;
pub mod shares;
mod stored_sample;
mod summary;
pub mod total_error;
pub mod trend;

pub use case_metrics::{mean_sentence, rate_sentence, withdraw_interval};
pub use conclusion::{
    RunResult, brief_result, chosen_weights, conclude_run, min_coverage, missing_policy, run_notes,
    store_scorecard_options,
};
pub use criterion_sample::CriterionSample;
pub use exit::{ExitStatus, RunDecision, RunEnding, exit_of_run};
pub use facts::{AmbiguousRun, CaseFact, CriterionFact, NameTable, RunFacts};
pub use metric::{MetricEstimate, ResamplingOptions};
pub use pass_rate::describe_pass_rate_gate;
pub use pass_rate_gate::exit_with_pass_rate;
pub use scorecard::{
    BenchmarkCase, BenchmarkCaseList, BenchmarkCases, BenchmarkMeasurement, BenchmarkVote, LabelSet,
    MeasurementChange, NodeDifference, NodeSide, NodeTrendPoint, ScorecardComparison, ScorecardFailOn,
    ScorecardMethod, ScorecardRun, ScorecardRunError, ScorecardTree, ScorecardTreeError, ScorecardTrendPoint,
    ScoredCard, check_scorecard_gates, compare_scorecards, count_distinct_cases, group_changes, needs_person,
    scorecard_trend_point,
};
pub use summary::{RunSummarizer, stored_mean};

#[cfg(test)]
mod tests;
