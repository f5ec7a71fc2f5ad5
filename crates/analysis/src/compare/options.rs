//! Options of a comparison.

use assize_stats::{ConfidenceLevel, multiplicity::PValueAdjustment};
use serde::Serialize;

use super::AllowedAspects;
use crate::RunFacts;

/// Metric of the overall conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadlineMetric {
    /// The mean score.
    #[default]
    Score,
    /// The pass rate.
    PassRate,
}

impl HeadlineMetric {
    /// Unit of the metric.
    pub const fn unit(self) -> MetricUnit {
        match self {
            Self::Score => MetricUnit::Score,
            Self::PassRate => MetricUnit::Rate,
        }
    }

    /// Display name of the metric.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Score => "mean score",
            Self::PassRate => "pass rate",
        }
    }
}

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
    /// True to bootstrap intervals of score differences.
    pub bootstrap: bool,
    /// True to use McNemar's mid-p value, which is less conservative than the exact one and closer to its
    /// level.
    pub mid_p: bool,
    /// Seed of all random draws.
    pub seed: u64,
    /// Aspects in which the runs may differ without making metrics incomparable.
    pub allowed: AllowedAspects,
    /// True if one of the runs stopped because its result was clear. Tests and intervals that need a fixed number of
    /// cases are omitted in that case. A comparison sets this from its two runs.
    pub is_stopped: bool,
}

impl ComparisonOptions {
    /// The options for these two runs.
    pub(crate) fn for_runs(&self, base: &RunFacts, candidate: &RunFacts) -> Self {
        Self { is_stopped: base.ended_by_result || candidate.ended_by_result, ..*self }
    }
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self {
            level: ConfidenceLevel::P95,
            margin: None,
            headline: HeadlineMetric::Score,
            adjustment: Some(PValueAdjustment::Holm),
            bootstrap: false,
            mid_p: false,
            seed: 1,
            allowed: AllowedAspects::NONE,
            is_stopped: false,
        }
    }
}

/// Unit in which a metric from 0 to 1 is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricUnit {
    /// A share of cases: a percentage, whose changes are percentage points.
    Rate,
    /// A score from 0 to 1, with three decimals.
    Score,
}

impl MetricUnit {
    /// Formats a difference without its sign, such as `12.5 pp` or `0.125`.
    pub fn format_size(self, value: f64) -> String {
        match self {
            Self::Rate => format!("{:.1} pp", value.abs() * 100.0),
            Self::Score => format!("{:.3}", value.abs()),
        }
    }

    /// Formats a difference with its sign, such as `+12.5 pp` or `+0.125`.
    pub fn format_change(self, value: f64) -> String {
        let size = self.format_size(value);
        let sign = match value {
            _ if size.starts_with("0.0 ") || size == "0.000" => "",
            value if value < 0.0 => "-",
            _ => "+",
        };

        format!("{sign}{size}")
    }

    /// Formats both ends of an interval of differences, with the unit once.
    pub fn format_interval(self, low: f64, high: f64) -> String {
        let low = self.format_change(low);
        format!("{} to {}", low.trim_end_matches(" pp"), self.format_change(high))
    }
}
