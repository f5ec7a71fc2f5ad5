//! Krippendorff's alpha with its own distances.

use super::{UnitRatings, scale::sum_squared_differences};
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
        observed += sum_distances(&counted(own), metric) / (unit.len() as f64 - 1.0);
    }

    let expected = sum_distances(&counted(placed), metric);
    if expected > 0.0 {
        check_finite(1.0 - (n - 1.0) * observed / expected)
    } else {
        Err(UndefinedReason::ChanceIsCertain)
    }
}

/// Distinct ratings, each with how often it was given.
fn counted(ratings: &[f64]) -> Vec<(f64, f64)> {
    let mut ratings = ratings.to_vec();
    ratings.sort_by(f64::total_cmp);
    ratings.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as f64)).collect()
}

/// Sum of the squared distances of all ordered pairs of ratings, from the distinct ones and how often each was given.
pub(super) fn sum_distances(counted: &[(f64, f64)], metric: AlphaMetric) -> f64 {
    match metric {
        AlphaMetric::Nominal => {
            let n: f64 = counted.iter().map(|(_, count)| count).sum();
            n * n - counted.iter().map(|(_, count)| count * count).sum::<f64>()
        }
        AlphaMetric::Ordinal | AlphaMetric::Interval => sum_squared_differences(counted),
        AlphaMetric::Ratio => {
            let with_later = |at: usize| {
                let (a, count) = counted[at];
                counted[at + 1..]
                    .iter()
                    .filter(move |(b, _)| a + b != 0.0)
                    .map(move |(b, others)| 2.0 * count * others * ((a - b) / (a + b)).powi(2))
            };
            (0..counted.len()).flat_map(with_later).sum()
        }
    }
}
