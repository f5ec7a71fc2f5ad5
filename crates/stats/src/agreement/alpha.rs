//! Krippendorff's alpha with its own distances.

use super::UnitRatings;
use crate::{UndefinedReason, rank::mid_ranks, undefined::check_finite};

/// The squared distance of two ratings c and k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AlphaMetric {
    /// 0 if they are the same, else 1.
    Nominal,
    /// `(sum of n_g for g from c to k, minus (n_c + n_k) / 2)^2`, where n_g is how often g was given: the
    /// squared distance of their mid-ranks.
    Ordinal,
    /// `(c - k)^2`.
    Interval,
    /// `((c - k) / (c + k))^2`.
    Ratio,
}

/// Krippendorff's alpha.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KrippendorffAlpha {
    /// `1 - observed / expected disagreement`; negative if raters disagree more than by chance.
    pub value: Result<f64, UndefinedReason>,
    /// Number of units with two ratings or more; the others are ignored.
    pub units: usize,
    /// Number of ratings of these units.
    pub ratings: usize,
}

/// Computes Krippendorff's alpha for any number of raters and any pattern of missing ratings. The interval is
/// [`alpha_interval`](super::alpha_interval). Source: K. Krippendorff, "Computing Krippendorff's
/// Alpha-Reliability" (2011).
///
/// Disagreements are summed per unit and over all ratings, without a coincidence table, so that the effort
/// grows with the number of ratings times its logarithm. Only the ratio metric compares every distinct value
/// with every other.
pub fn alpha(ratings: &UnitRatings, metric: AlphaMetric) -> KrippendorffAlpha {
    let ends: Vec<&[f64]> = ratings.units().filter(|unit| unit.len() > 1).collect();
    let pooled: Vec<f64> = ends.iter().copied().flatten().copied().collect();
    let value = ratings.values().and_then(|_| compute(&ends, &pooled, metric));
    KrippendorffAlpha { value, units: ends.len(), ratings: pooled.len() }
}

fn compute(units: &[&[f64]], pooled: &[f64], metric: AlphaMetric) -> Result<f64, UndefinedReason> {
    if pooled.is_empty() {
        return Err(UndefinedReason::NoPairs);
    }

    let n = pooled.len() as f64;
    let (ranks, groups) = mid_ranks(pooled);
    if groups.len() < 2 {
        return Err(UndefinedReason::ChanceIsCertain);
    }

    let placed = match metric {
        AlphaMetric::Nominal | AlphaMetric::Ordinal => ranks.as_slice(),
        AlphaMetric::Interval | AlphaMetric::Ratio => pooled,
    };
    let mut rest = placed;
    let mut observed = 0.0;
    for unit in units {
        let (own, after) = rest.split_at(unit.len());
        rest = after;
        observed += sum_pair_distances(own, metric) / (unit.len() as f64 - 1.0);
    }

    let expected = match metric {
        AlphaMetric::Nominal => n * n - groups.iter().map(|&size| (size as f64).powi(2)).sum::<f64>(),
        AlphaMetric::Ordinal | AlphaMetric::Interval => 2.0 * n * sum_squared_deviations(placed),
        AlphaMetric::Ratio => sum_ratio_distances(&ranks, pooled, &groups),
    };
    if expected > 0.0 {
        check_finite(1.0 - (n - 1.0) * observed / expected)
    } else {
        Err(UndefinedReason::ChanceIsCertain)
    }
}

/// Sum of the squared distances of all ordered pairs of one unit's ratings.
fn sum_pair_distances(ratings: &[f64], metric: AlphaMetric) -> f64 {
    match metric {
        AlphaMetric::Ordinal | AlphaMetric::Interval => {
            2.0 * ratings.len() as f64 * sum_squared_deviations(ratings)
        }
        AlphaMetric::Nominal => sum_over_pairs(ratings, |a, b| f64::from(a != b)),
        AlphaMetric::Ratio => sum_over_pairs(ratings, ratio),
    }
}

fn sum_over_pairs(ratings: &[f64], distance: fn(f64, f64) -> f64) -> f64 {
    let later = |at: usize| ratings[at + 1..].iter().map(move |&other| distance(ratings[at], other));
    2.0 * (0..ratings.len()).flat_map(later).sum::<f64>()
}

fn ratio(a: f64, b: f64) -> f64 {
    if a + b == 0.0 { 0.0 } else { ((a - b) / (a + b)).powi(2) }
}

/// Sum of squared distances from the mean. All ordered pairs differ by 2 n times as much, squared.
fn sum_squared_deviations(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Sum of the ratio distances of all ordered pairs, from the distinct values and their counts.
fn sum_ratio_distances(ranks: &[f64], values: &[f64], groups: &[u64]) -> f64 {
    let mut distinct: Vec<(f64, f64)> = ranks.iter().copied().zip(values.iter().copied()).collect();
    distinct.sort_by(|a, b| a.0.total_cmp(&b.0));
    distinct.dedup_by(|a, b| a.0 == b.0);

    let counted: Vec<(f64, f64)> =
        distinct.iter().zip(groups).map(|(&(_, value), &size)| (value, size as f64)).collect();
    let mut sum = 0.0;
    for (at, &(value, size)) in counted.iter().enumerate() {
        for &(other, others) in &counted[at + 1..] {
            sum += 2.0 * size * others * ratio(value, other);
        }
    }

    sum
}
