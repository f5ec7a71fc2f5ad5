//! Units of a sample: independent values, or clusters of values.

use crate::{
    BoundedMean, ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    bounded_mean::{EffectiveMean, SUMMATION_TOLERANCE, end_weight, outermost, wilson_ends},
    distribution::{normal_critical_value, student_critical_value},
    proportion,
    random_weights::RandomWeights,
    two_values::NearlyTwoValues,
    undefined::{check_all_finite, check_finite, check_lengths},
    unit_list::{UnitList, UnitVec},
};

/// Weight of the two pseudo clusters, one at either end of the range, that smooth the error of clustered
/// values. If all differences come from a few clusters, their spread alone says too little about other
/// clusters.
const CLUSTER_PRIOR: f64 = 0.1;

/// Minimum degrees of freedom of several clusters.
pub(crate) const MIN_FREEDOM: f64 = 0.1;

/// Returns the quantile of Student's t for this many clusters of equal size. If one cluster holds nearly
/// everything, the degrees of freedom are limited to a tenth, whose interval is practically unlimited.
pub(crate) fn cluster_critical_value(
    effective_count: f64,
    level: ConfidenceLevel,
) -> Result<f64, UndefinedReason> {
    student_critical_value((effective_count - 1.0).max(MIN_FREEDOM), level)
}

/// Maps the values of a range to a scale from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitScale {
    least: f64,
    width: f64,
    values: usize,
    at_ends: bool,
}

impl UnitScale {
    /// Creates the scale for values between two numbers.
    ///
    /// # Errors
    /// If the second number is not larger than the first.
    pub fn new((least, most): (f64, f64)) -> Result<Self, UndefinedReason> {
        let width = check_finite(most - least)?;
        if width <= 0.0 {
            return Err(UndefinedReason::OutOfRange);
        }

        Ok(Self { least, width, values: 0, at_ends: true })
    }

    /// Takes a value of the sample and returns it on the scale.
    ///
    /// # Errors
    /// If the value is not in the range.
    pub fn take(&mut self, value: f64) -> Result<f64, UndefinedReason> {
        let share = (value - self.least) / self.width;
        if !(-SUMMATION_TOLERANCE..=1.0 + SUMMATION_TOLERANCE).contains(&share) {
            return Err(UndefinedReason::OutOfRange);
        }

        let share = share.clamp(0.0, 1.0);
        self.values += 1;
        self.at_ends &= share == 0.0 || share == 1.0;
        Ok(share)
    }
}

/// Sums and sizes of the units of a sample, scaled to a range of 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitSums<L = UnitVec> {
    units: L,
    n: f64,
    is_independent: bool,
    /// True if every value is independent and lies at an end of the range.
    pub(crate) is_binary: bool,
}

impl UnitSums {
    pub(crate) fn new<K: Ord>(
        values: &[f64],
        clusters: &[K],
        range: (f64, f64),
    ) -> Result<Self, UndefinedReason> {
        check_all_finite(values)?;
        let mut scale = UnitScale::new(range)?;
        check_lengths(values.len(), clusters.len())?;

        // Sorted by cluster, which keeps the order of values within each. A map would take several times the
        // memory of the values.
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| clusters[*a].cmp(&clusters[*b]));
        let units = order.chunk_by(|a, b| clusters[*a] == clusters[*b]).map(|members| {
            let mut sum = 0.0;
            for &index in members {
                sum += scale.take(values[index])?;
            }
            Ok((sum, members.len() as f64))
        });
        let units = units.collect::<Result<UnitVec, UndefinedReason>>()?;

        Self::from_list(units, scale)
    }

    /// Marks the values as scores, even if all of them are at the ends of the range.
    pub(crate) fn without_verdicts(self) -> Self {
        Self { is_binary: false, ..self }
    }

    /// Sum and size of each unit.
    pub(crate) fn units(&self) -> impl Iterator<Item = (f64, f64)> {
        self.units.sums.iter().copied().zip(self.units.sizes.iter().copied())
    }

    /// Returns the variance of the values of both lists together; all of them must be independent.
    pub(crate) fn pooled_spread(&self, other: &Self) -> f64 {
        let all = || self.units.sums.iter().chain(&other.units.sums);
        let n = self.n + other.n;
        let mean = all().sum::<f64>() / n;
        all().map(|value| (value - mean).powi(2)).sum::<f64>() / n
    }
}

impl<L: UnitList> UnitSums<L> {
    /// Creates the units of the values that `scale` took. The sum of a unit is the sum of its values on the
    /// scale.
    ///
    /// # Errors
    /// If there are no values.
    pub fn from_list(units: L, scale: UnitScale) -> Result<Self, UndefinedReason> {
        if scale.values == 0 {
            return Err(UndefinedReason::NoValues);
        }

        let is_independent = units.count() == scale.values;
        let is_binary = is_independent && scale.at_ends;
        Ok(Self { units, n: scale.values as f64, is_independent, is_binary })
    }

    /// The list of units.
    pub(crate) const fn list(&self) -> &L {
        &self.units
    }

    /// Returns the list of units.
    pub fn into_list(self) -> L {
        self.units
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.units.count()
    }

    /// Number of units of equal size that would carry as much information, `n^2 / sum(size^2)`: the number of
    /// units if all have the same size, and near 1 if one of them holds most of the values. Source: L. Kish,
    /// Survey Sampling (1965).
    pub(crate) fn effective_count(&self) -> f64 {
        self.n * self.n / self.sum(|_, size| size * size)
    }

    /// Returns the mean of the values, whose range is `range`, and its interval, as in
    /// [`bounded_mean_clustered`](crate::bounded_mean_clustered).
    pub fn bounded_mean(&self, range: (f64, f64), level: ConfidenceLevel) -> BoundedMean {
        let units = self.effective_count();
        let unlimited = self.effective_mean();
        let scaled = unlimited.limited(units);
        let place = |share: f64| range.0 + (range.1 - range.0) * share;

        let interval = if self.is_binary {
            // The same as for the share of ones. The mean of a single value has no interval.
            self.critical_value(level).and_then(|_| {
                let passed = (scaled.mean * self.n).round() as u64;
                let found = proportion(passed, self.n as u64, level).interval?;
                Ok(Interval { low: place(found.low), high: place(found.high), ..found })
            })
        } else {
            self.critical_value(level).map(|critical| {
                let wilson = wilson_ends(scaled.mean, scaled.effective_n, critical);
                let end_weight = end_weight(scaled.effective_n / units);
                let weighted = RandomWeights::new(&self.units, end_weight).widen(wilson, level.tail());
                let own = wilson_ends(unlimited.mean, unlimited.effective_n, critical);
                let exact = NearlyTwoValues::new(&self.units, units, 1.0).widen(wilson, own, level);
                let (low, high) = outermost(weighted, exact);
                let method = match (low, high) {
                    ends if ends == wilson => IntervalMethod::WilsonEffective,
                    ends if ends == weighted => IntervalMethod::WilsonGaffke,
                    _ => IntervalMethod::WilsonBlaker,
                };
                Interval { low: place(low), high: place(high), level, method }
            })
        };

        BoundedMean {
            n: self.n as usize,
            clusters: self.count(),
            mean: place(scaled.mean),
            effective_n: scaled.effective_n,
            interval,
        }
    }

    /// Returns the quantile for an interval: of Student's t with one degree of freedom less than there are
    /// clusters of equal size, or the normal quantile for a proportion.
    pub(crate) fn critical_value(&self, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
        match self.count() {
            1 if self.is_independent => Err(UndefinedReason::OneValue),
            1 => Err(UndefinedReason::OneCluster),
            _ if self.is_binary => normal_critical_value(level),
            _ => cluster_critical_value(self.effective_count(), level),
        }
    }

    /// Returns at most `most` of the units, evenly spaced in the order of their means.
    pub(crate) fn thinned(&self, most: usize) -> UnitSums {
        let mut units = Vec::with_capacity(self.count());
        self.units.visit(|sum, size| units.push((sum, size)));

        let seen = units.len();
        let mut n = self.n;
        if seen > most {
            units.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
            units = (0..most).map(|at| units[(2 * at + 1) * seen / (2 * most)]).collect();
            n = units.iter().map(|(_, size)| size).sum();
        }
        UnitSums {
            units: units.into_iter().collect(),
            n,
            is_independent: self.is_independent,
            is_binary: self.is_binary,
        }
    }

    /// Number of values.
    pub(crate) const fn n(&self) -> f64 {
        self.n
    }

    /// Returns true if every value is independent.
    pub(crate) const fn is_independent(&self) -> bool {
        self.is_independent
    }

    /// Returns the sum of `part` over all units.
    fn sum(&self, mut part: impl FnMut(f64, f64) -> f64) -> f64 {
        let mut all = 0.0;
        self.units.visit(|sum, size| all += part(sum, size));
        all
    }

    pub(crate) fn mean(&self) -> f64 {
        self.sum(|sum, _| sum) / self.n
    }

    /// Deviations of the clusters' sums from their expectation by the mean.
    pub(crate) fn deviations(&self) -> Vec<f64> {
        let mean = self.mean();
        let mut found = Vec::with_capacity(self.count());
        self.units.visit(|sum, size| found.push(sum - size * mean));
        found
    }

    pub(crate) fn effective_mean(&self) -> EffectiveMean {
        self.effective_mean_of(self.count() as f64)
    }

    /// Returns true if the units differ by more than the order of summation.
    pub(crate) fn varies(&self) -> bool {
        let mean = self.mean();
        let size = self.n / self.count() as f64;
        let spread = self.sum(|sum, size| (sum - size * mean) * (sum - size * mean));
        spread > (SUMMATION_TOLERANCE * size).powi(2) * self.count() as f64
    }

    /// Returns the effective mean of `units` units, at least 2, that vary as these do. A unit with a large
    /// share of the sample pulls the mean towards itself, so its deviation counts more (CR2). Source: R. Bell
    /// and D. McCaffrey, Survey Methodology 28 (2002), 169-181.
    pub(crate) fn effective_mean_of(&self, units: f64) -> EffectiveMean {
        let mean = self.mean().clamp(0.0, 1.0);
        if self.is_binary {
            return EffectiveMean { mean, effective_n: units };
        }

        let seen = self.count() as f64;
        let effective = units * self.effective_count() / seen;
        if !self.varies() {
            // There is no spread to learn from, so each cluster counts as one value at an end.
            return EffectiveMean { mean, effective_n: effective };
        }

        let size = self.n / self.effective_count();
        let prior = if self.is_independent { 0.0 } else { CLUSTER_PRIOR };
        let smoothed_units = effective + 2.0 * prior;
        let smoothed_n = smoothed_units * size;
        let smoothed = (mean * effective + prior) / smoothed_units;
        // The sum of squares has one degree of freedom less than there are units.
        let more = if units == seen { 1.0 } else { (units - 1.0) / (seen - 1.0) };
        let from_data = self.sum(|sum, size| (sum - size * smoothed).powi(2) / (1.0 - size / smoothed_n));
        let from_ends = prior * size * size * (smoothed.powi(2) + (1.0 - smoothed).powi(2));
        let squares = from_data * more + from_ends / (1.0 - size / smoothed_n);
        let variance = squares / smoothed_n.powi(2);

        let effective_n = smoothed * (1.0 - smoothed) / variance * effective / smoothed_units;
        EffectiveMean { mean, effective_n }
    }
}
