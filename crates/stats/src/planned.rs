//! Predicted widths of the intervals of means and rates for other sample sizes.

use crate::{
    ConfidenceLevel, UndefinedReason,
    bounded_mean::{end_weight, outermost, wilson_ends},
    power::{least_cases, rate_cases},
    proportion,
    random_weights::RandomWeights,
    two_values::NearlyTwoValues,
    undefined::check_finite,
    unit_list::UnitList,
    units::{UnitSums, cluster_critical_value},
};

/// Maximum number of units in computations of widths. If there are more, evenly spaced ones are used, from the lowest
/// mean to the highest.
const MAX_UNITS: usize = 1_000;

/// Values from 0 to 1, for predicting the width that the interval of
/// [`bounded_mean_clustered`](crate::bounded_mean_clustered) would have for other numbers of values from the
/// same distribution.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedMean {
    units: UnitSums,
    /// Mean to plan with.
    cautious_mean: f64,
    varies: bool,
}

impl PlannedMean {
    /// Creates a plan from values and the cluster of each.
    ///
    /// # Errors
    /// If a value is outside 0 to 1, or there are fewer than two clusters.
    pub fn new<K: Ord>(
        values: &[f64],
        clusters: &[K],
        level: ConfidenceLevel,
    ) -> Result<Self, UndefinedReason> {
        Self::from_units(&UnitSums::new(values, clusters, (0.0, 1.0))?, level)
    }

    /// Creates a plan from the units of values from 0 to 1.
    ///
    /// # Errors
    /// If there are fewer than two clusters.
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

    /// Mean to plan with: the mean of the values or, if they do not vary, the mean in their interval that
    /// needs the most values.
    pub const fn cautious_mean(&self) -> f64 {
        self.cautious_mean
    }

    /// Returns true if the values vary, so that the plan can use their mean.
    pub const fn varies(&self) -> bool {
        self.varies
    }

    /// Returns true if each value is its own cluster.
    pub const fn is_independent(&self) -> bool {
        self.units.is_independent()
    }

    /// Mean number of values per cluster; 1 if values are independent.
    fn size(&self) -> f64 {
        self.units.n() / self.units.count() as f64
    }

    /// Number of clusters of equal size that one cluster counts for, on average; 1 if all have the same size.
    fn evenness(&self) -> f64 {
        self.units.effective_count() / self.units.count() as f64
    }

    /// Returns half the width of the interval of `n` values with this mean and spread. Each value counts as
    /// `n` divided by the number of values: a sum of gamma-distributed weights is gamma-distributed with the
    /// sum of their shapes.
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
        let end_weight = end_weight(scaled.effective_n / effective);
        let unit_weight = units / self.units.count() as f64;
        let weights = RandomWeights::new(self.units.list(), end_weight).with_unit_weight(unit_weight);
        let own = wilson_ends(unlimited.mean, unlimited.effective_n, critical);
        let exact = NearlyTwoValues::new(self.units.list(), effective, 1.0 / unit_weight);
        let exact = exact.widen(wilson, own, level);
        let (low, high) = outermost(weights.widen(wilson, level.tail()), exact);
        check_finite((high - low) / 2.0)
    }

    /// Returns the smallest number of values whose interval has this half-width. For independent verdicts,
    /// the width is averaged over the possible numbers of passes.
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
