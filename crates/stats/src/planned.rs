//! Widths that intervals of means and rates will have.

use crate::{
    ConfidenceLevel, UndefinedReason, bounded,
    bounded::wilson_ends,
    power::{least_cases, rate_cases},
    proportion,
    random_weights::RandomWeights,
    two_values::NearlyTwoValues,
    undefined::check_finite,
    units::{UnitList, UnitSums, cluster_critical_value},
};

/// Units that widths are computed from. Of more, evenly spaced ones are taken, from the lowest to the highest.
const MAX_UNITS: usize = 1_000;

/// Values from 0 to 1, from which the width of the interval of [`bounded_mean_clustered`](crate::bounded_mean_clustered) is computed that
/// other numbers of values of the same distribution have.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedMean {
    units: UnitSums,
    /// Mean that numbers of values are planned on.
    cautious_mean: f64,
    varies: bool,
}

impl PlannedMean {
    /// Takes values, with the cluster of each.
    ///
    /// # Errors
    /// Values outside 0 to 1, or of fewer than two clusters.
    pub fn new<K: Ord>(
        values: &[f64],
        clusters: &[K],
        level: ConfidenceLevel,
    ) -> Result<Self, UndefinedReason> {
        Self::from_units(&UnitSums::new(values, clusters, (0.0, 1.0))?, level)
    }

    /// Takes the units of values from 0 to 1.
    ///
    /// # Errors
    /// Values of fewer than two clusters.
    pub fn from_units<L: UnitList>(
        all: &UnitSums<L>,
        level: ConfidenceLevel,
    ) -> Result<Self, UndefinedReason> {
        let found = all.bounded_mean((0.0, 1.0), level);
        let interval = found.interval?;
        let varies = all.varies();
        let cautious_mean = if varies { found.mean } else { 0.5_f64.clamp(interval.low, interval.high) };

        Ok(Self { units: all.thinned(MAX_UNITS), cautious_mean, varies })
    }

    /// Mean that numbers of values are planned on: that of the values; where they do not vary, the one in their interval that takes
    /// most values.
    pub const fn cautious_mean(&self) -> f64 {
        self.cautious_mean
    }

    /// True if the values vary, so that their mean is planned on.
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// True if each value is a cluster of its own.
    pub const fn is_independent(&self) -> bool {
        self.units.is_independent()
    }

    /// Values of a cluster on average; 1 if each is independent.
    fn size(&self) -> f64 {
        self.units.n() / self.units.count() as f64
    }

    /// Clusters of one size that a cluster counts for; 1 where all have one size.
    fn evenness(&self) -> f64 {
        self.units.effective_count() / self.units.count() as f64
    }

    /// Returns half the width of the interval of `n` values with this mean and spread. Each value counts for `n` divided by the
    /// number of values: a sum of weights of the gamma distribution has the sum of their shapes.
    pub fn half_width(&self, n: f64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
        let units = check_finite(n / self.size())?;
        if units < 2.0 {
            return Err(if self.units.is_independent() {
                UndefinedReason::OneValue
            } else {
                UndefinedReason::OneCluster
            });
        }
        if self.units.is_binary {
            let passed = (self.units.mean() * n).round();
            return proportion(passed as u64, n as u64, level).interval.map(|found| found.width() / 2.0);
        }

        let effective = units * self.evenness();
        let unlimited = self.units.effective_mean_of(units);
        let scaled = unlimited.limited(effective);
        let critical = cluster_critical_value(effective, level)?;
        let wilson = wilson_ends(scaled.mean, scaled.effective_n, critical);
        let end_weight = bounded::end_weight(scaled.effective_n / effective);
        let unit_weight = units / self.units.count() as f64;
        let weights = RandomWeights::new(self.units.list(), end_weight).with_unit_weight(unit_weight);
        let own = wilson_ends(unlimited.mean, unlimited.effective_n, critical);
        let exact = NearlyTwoValues::new(self.units.list(), effective, 1.0 / unit_weight);
        let exact = exact.widen(wilson, own, level);
        let (low, high) = bounded::outermost(weights.widen(wilson, level.tail()), exact);
        check_finite((high - low) / 2.0)
    }

    /// Returns the least number of values whose interval has this half width. For independent verdicts, the width is the mean one over
    /// what they may be.
    pub fn cases(&self, half_width: f64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
        let least = (2.0 * self.size()).ceil() as u64;
        if self.units.is_binary {
            return rate_cases(self.cautious_mean, half_width, least, level);
        }
        if self.varies {
            return least_cases(half_width, least, |n| self.half_width(n as f64, level));
        }

        // Without a spread, each cluster counts as one value at an end.
        least_cases(half_width, least, |n| {
            let units = n as f64 / self.size() * self.evenness();
            let critical = cluster_critical_value(units, level)?;
            let (low, high) = wilson_ends(self.cautious_mean, units, critical);
            check_finite((high - low) / 2.0)
        })
    }
}
