//! Outcome of a run that may end as soon as its result is clear.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a run with a rule by which it ends before its cases do. Its intervals hold at all times at once, so they may end the
/// run; the usual ones do not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EarlyStop {
    /// Metric that decides.
    pub metric: StopMetric,
    /// Pass rate that it is compared with, or name of the baseline run.
    pub against: String,
    /// Value from which the metric is above: the pass rate, or a difference of 0.
    pub threshold: f64,
    /// Conclusion; null if it was not clear when the cases ended.
    pub conclusion: Option<StopConclusion>,
    /// Clusters of cases that count: cases, unless several belong together or are repeated.
    pub clusters: u64,
    /// Clusters after which the result was clear; null if it was not.
    pub decided_after: Option<u64>,
    /// The metric over these clusters, with its interval; null without any.
    pub result: Option<AnytimeInterval>,
    /// Share of answers that passed; null without any.
    pub pass_rate: Option<AnytimeInterval>,
    /// Mean score; null without any.
    pub mean_score: Option<AnytimeInterval>,
    /// Confidence level of each interval, for all looks together.
    pub level: f64,
    /// Results without a verdict or score, which don't count.
    pub ungraded: u64,
    /// Results that were planned and not run.
    pub saved: u64,
    /// Judge calls that those would have taken, by those of the others.
    pub judge_calls_saved: u64,
}

assize_rubric::named_enum! {
    /// Metric that ends a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum StopMetric {
        /// Share of answers that passed.
        PassRate = "pass_rate",
        /// Mean difference of scores from those of the baseline.
        ScoreDifference = "score_difference",
    }
}

assize_rubric::named_enum! {
    /// Side of the threshold on which a metric lies.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum StopConclusion {
        /// At the threshold or above it.
        Above = "above",
        /// Below it.
        Below = "below",
    }
}

/// A mean over clusters, and an interval that holds it at all times at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnytimeInterval {
    /// The mean.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl EarlyStop {
    /// Returns true if cases were not run because the result was clear.
    pub const fn is_early(&self) -> bool {
        self.conclusion.is_some() && self.saved > 0
    }
}
