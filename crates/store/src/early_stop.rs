//! Outcome of a run that may end as soon as its result is clear.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of an early-stop rule. Its intervals stay valid if they are checked repeatedly, unlike the usual ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EarlyStop {
    /// Metric that the rule checks.
    pub metric: StopMetric,
    /// Reference pass rate, or name of the baseline run.
    pub against: String,
    /// Reference value of the metric: a pass rate, or a difference of 0.
    pub threshold: f64,
    /// Conclusion; null if the result stayed inconclusive.
    pub conclusion: Option<StopConclusion>,
    /// Number of clusters that count. Each case is one, unless cases share a cluster.
    pub clusters: u64,
    /// Number of clusters after which the result was conclusive; null if it stayed inconclusive.
    pub decided_after: Option<u64>,
    /// Metric over these clusters, with its interval; null without any.
    pub result: Option<AnytimeInterval>,
    /// Pass rate; null without any case.
    pub pass_rate: Option<AnytimeInterval>,
    /// Mean score; null without any case.
    pub mean_score: Option<AnytimeInterval>,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Number of results without a verdict or score. They do not count.
    pub ungraded: u64,
    /// Number of planned results that did not run.
    pub saved: u64,
    /// Estimated judge calls that early stopping avoided.
    pub judge_calls_saved: u64,
}

assize_rubric::named_enum! {
    /// Metric of an early-stop rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum StopMetric {
        /// Pass rate.
        PassRate = "pass_rate",
        /// Mean difference of scores from the baseline.
        ScoreDifference = "score_difference",
    }
}

assize_rubric::named_enum! {
    /// Conclusion of an early-stop rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum StopConclusion {
        /// At or above the reference.
        Above = "above",
        /// Below the reference.
        Below = "below",
    }
}

/// Mean over clusters with an interval that stays valid if it is checked repeatedly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnytimeInterval {
    /// Mean.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl EarlyStop {
    /// Returns true if cases were not run because the result was already clear.
    pub const fn is_early(&self) -> bool {
        self.conclusion.is_some() && self.saved > 0
    }
}

/// Why a run starts nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HaltReason {
    /// A case could not be run or judged, and its suite stops at errors.
    Error,
    /// The number of cases that did not pass has reached the user's limit.
    NotPassed,
    /// The result is clear without further cases.
    Decided,
}
