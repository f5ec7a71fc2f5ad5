//! The mean of values within a range, and the components of its interval.

use crate::{Interval, UndefinedReason};

/// Maximum number of values at the ends of the range that one unit counts for. Values close together in the
/// middle of the range have a very small spread; without the limit it would rule out rare values at an end
/// that this sample may have missed.
const MAX_VALUES_PER_UNIT: f64 = 25.0;

/// Maximum weight, in units, of an end of the range in addition to the sample: the one half of Jeffreys'
/// prior.
const MAX_END_WEIGHT: f64 = 0.5;

/// Distance, as a share of the range, below which values differ only by the order of summation.
pub(crate) const SUMMATION_TOLERANCE: f64 = 1e-9;

/// A mean of values within a range, and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedMean {
    /// Number of values.
    pub n: usize,
    /// Number of clusters; `n` if every value is independent.
    pub clusters: usize,
    /// The mean over all values; larger clusters have more weight.
    pub mean: f64,
    /// Number of values at the ends of the range that would carry as much information: `m (1 - m) / se^2` for
    /// a mean m on a range of 0 to 1, but at most 25 per cluster. If all values are equal, the number of
    /// clusters. Clusters of unequal size count as the equivalent number of equal ones.
    pub effective_n: f64,
    /// Wilson's interval of the mean on the effective number of values, with the quantile of Student's t. Each end is
    /// extended to the quantile of randomly weighted values if that is further out. For independent values that are all
    /// at the ends, the interval of [`proportion`](crate::proportion).
    pub interval: Result<Interval, UndefinedReason>,
}

/// Weight of an end of the range if each unit counts for `worth` values at the ends.
pub(crate) fn end_weight(worth: f64) -> f64 {
    MAX_END_WEIGHT * (worth / MAX_VALUES_PER_UNIT).sqrt()
}

/// Returns the lower one of two lower ends, and the higher one of two upper ends.
pub(crate) fn outermost(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// Returns the ends of Wilson's interval of a mean within 0 to 1 for any number of values.
pub(crate) fn wilson_ends(mean: f64, n: f64, critical: f64) -> (f64, f64) {
    let square = critical * critical;
    let centre = mean * n + square / 2.0;
    let reach = critical * (n * mean * (1.0 - mean) + square / 4.0).max(0.0).sqrt();

    // At the ends the two terms cancel exactly in mathematics, but not in floating point.
    let low = if mean <= 0.0 { 0.0 } else { (centre - reach) / (n + square) };
    let high = if mean >= 1.0 { 1.0 } else { (centre + reach) / (n + square) };
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

/// A mean on a range of 0 to 1, and the number of values at its ends that would carry as much information.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EffectiveMean {
    pub(crate) mean: f64,
    pub(crate) effective_n: f64,
}

impl EffectiveMean {
    /// Limits the effective number to [`MAX_VALUES_PER_UNIT`] values per unit.
    pub(crate) fn limited(self, units: f64) -> Self {
        Self { effective_n: self.effective_n.min(MAX_VALUES_PER_UNIT * units), ..self }
    }
}
