//! A metric with its uncertainty.

use assize_stats::{ConfidenceLevel, Interval, SeededRandom, UndefinedReason, bootstrap, expanded_level};

/// A metric: its value, interval, sample size and interpretation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricEstimate {
    /// Name in records: `kappa`.
    pub id: &'static str,
    /// Display name, such as `Cohen's kappa`.
    pub name: &'static str,
    /// Value, or the reason why it is undefined.
    pub value: Result<f64, UndefinedReason>,
    /// Interval, or the reason why it is undefined.
    pub interval: Result<Interval, UndefinedReason>,
    /// Sample size.
    pub n: u64,
    /// Unit of the sample size, such as `pairs` or `items`.
    pub of: &'static str,
    /// Interpretation in one sentence.
    pub says: &'static str,
}

/// Parameters of bootstrap intervals, for metrics without a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResamplingOptions {
    /// Number of resamples.
    pub resamples: usize,
    /// Seed of the random numbers: equal seeds give equal intervals.
    pub seed: u64,
    /// Confidence level of every interval.
    pub level: ConfidenceLevel,
}

impl Default for ResamplingOptions {
    fn default() -> Self {
        Self { resamples: 2_000, seed: 1, level: ConfidenceLevel::P95 }
    }
}

/// A metric may be undefined in one of this many resamples. If it is undefined more often, the other
/// resamples are not a fair picture of its spread.
const UNDEFINED_ONE_IN: usize = 20;

/// Width below which resamples differ only by rounding.
const MIN_WIDTH: f64 = 1e-9;

impl ResamplingOptions {
    /// Computes the percentile bootstrap interval of a statistic over units drawn with replacement, expanded
    /// to correct for small numbers of units.
    pub(crate) fn bootstrap_interval(
        &self,
        units: usize,
        figure: impl FnMut(&[usize]) -> Result<f64, UndefinedReason>,
    ) -> Result<Interval, UndefinedReason> {
        let mut random = SeededRandom::new(self.seed);
        let level = expanded_level(self.level, units)?;
        let found = bootstrap(units, self.resamples, level, &mut random, figure)?;
        if found.undefined * UNDEFINED_ONE_IN > self.resamples {
            return Err(UndefinedReason::TooFew);
        }

        // If all resamples agree, the sample has no spread; that does not make the metric certain.
        let interval = Interval { level: self.level, ..found.percentile };
        if interval.width() > MIN_WIDTH { Ok(interval) } else { Err(UndefinedReason::NoSpread) }
    }
}
