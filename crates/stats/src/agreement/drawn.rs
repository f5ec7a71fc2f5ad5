//! Intervals of Krippendorff's alpha and of Gwet's coefficients, from random samples that are likely given
//! the ratings.

use std::collections::BTreeMap;

use rand_core::RngCore;

use super::{AgreementWeights, AlphaMetric, ChanceAgreement, RatingScale, UnitRatings, alpha, coefficient};
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    rank::{mid_ranks, quantile},
    undefined::{check_finite, check_lengths},
    variates::{exponential, gamma, uniform},
};

/// Total number of pseudo units in the weaker and in the stronger prior. For two raters and two verdicts
/// these are a quarter and a half of a unit in each of the four cells, as in the drawn tables for kappa.
const PRIORS: [f64; 2] = [1.0, 2.0];

/// A coefficient may be undefined in one of this many draws. If it is undefined more often, the other draws
/// are not a fair sample.
const UNDEFINED_ONE_IN: usize = 20;

/// How far rounding may move a coefficient of full agreement from 1.
const ROUNDING: f64 = 1e-9;

/// Ratings of the units of a cluster, in the form in which a draw sums them.
#[derive(Debug, Clone, Default)]
struct ClusterRatings {
    /// For each unit, the number of ratings of each value, by the value's index.
    units: Vec<Vec<(usize, f64)>>,
}

/// A weighted sample of the ratings: shares of the values, and the agreement within units.
#[derive(Debug, Clone)]
struct RatingSample {
    /// Weighted number of ratings of each value.
    counts: Vec<f64>,
    /// Weight of each cluster.
    weights: Vec<f64>,
    /// Weights of the pseudo units that agree, by value; then the pseudo unit that disagrees, with its two
    /// values and its weight.
    agreeing: Vec<f64>,
    disagreeing: (usize, usize, f64),
    /// Mean number of ratings of a unit.
    unit_size: f64,
}

/// Returns the interval of Krippendorff's alpha, within -1 to 1: equal tails of alpha over samples drawn
/// around the ratings.
///
/// Each sample weights every cluster of units by a random number from the exponential distribution, and adds
/// pseudo units that agree and disagree (D. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9 (1981),
/// 130-134). Unlike resampled units, drawn samples allow for values that the data happen not to contain, so
/// that full agreement has an interval with a width too. Samples are drawn with a weaker and a stronger
/// prior; the interval covers both, and always contains the estimate. `clusters` names the cluster of each
/// unit. Undefined if alpha is, and for a single cluster.
pub fn alpha_interval<K: Ord, R: RngCore + ?Sized>(
    ratings: &UnitRatings,
    clusters: &[K],
    metric: AlphaMetric,
    draws: usize,
    level: ConfidenceLevel,
    random: &mut R,
) -> Result<Interval, UndefinedReason> {
    let estimate = alpha(ratings, metric).value?;
    check_lengths(clusters.len(), ratings.len())?;

    let rated: Vec<(&[f64], &K)> = ratings.units().zip(clusters).filter(|(unit, _)| unit.len() > 1).collect();
    let pooled: Vec<f64> = rated.iter().flat_map(|(unit, _)| unit.iter().copied()).collect();
    let (ranks, _) = mid_ranks(&pooled);
    let mut distinct: Vec<(f64, f64)> = ranks.iter().copied().zip(pooled.iter().copied()).collect();
    distinct.sort_by(|a, b| a.0.total_cmp(&b.0));
    distinct.dedup_by(|a, b| a.0 == b.0);

    let mut rest = ranks.as_slice();
    let mut placed = Vec::with_capacity(rated.len());
    for (unit, cluster) in rated {
        let (own, after) = rest.split_at(unit.len());
        rest = after;
        let places = own.iter().map(|rank| distinct.partition_point(|(known, _)| known < rank));
        placed.push((places.collect(), cluster));
    }

    let values: Vec<f64> = distinct.into_iter().map(|(_, value)| value).collect();
    let drawn = DrawnRatings::new(placed, values.len())?;
    drawn.interval(estimate, draws, level, random, |sample| {
        weighted_alpha(sample, &drawn.clusters, &values, metric)
    })
}

/// Returns the interval of Gwet's AC1 or AC2 on a declared scale, in the same way as [`alpha_interval`].
/// Pseudo units may have any answer of the scale.
pub fn gwet_interval<K: Ord, R: RngCore + ?Sized>(
    ratings: &UnitRatings,
    clusters: &[K],
    (scale, weights): (&RatingScale, AgreementWeights),
    draws: usize,
    level: ConfidenceLevel,
    random: &mut R,
) -> Result<Interval, UndefinedReason> {
    let estimate = coefficient(ratings, scale, weights, ChanceAgreement::Gwet, level).value?;
    check_lengths(clusters.len(), ratings.len())?;

    let mut placed = Vec::new();
    for (unit, cluster) in ratings.units().zip(clusters).filter(|(unit, _)| !unit.is_empty()) {
        let places: Result<Vec<usize>, _> = unit.iter().map(|rating| scale.position(*rating)).collect();
        placed.push((places?, cluster));
    }

    let drawn = DrawnRatings::new(placed, scale.len())?;
    let matrix = weights.matrix(scale.points());
    drawn.interval(estimate, draws, level, random, |sample| weighted_gwet(sample, &drawn.clusters, &matrix))
}

/// Ratings around which samples are drawn.
struct DrawnRatings {
    clusters: Vec<ClusterRatings>,
    /// Number of possible values, at least 2.
    values: usize,
    /// Number of ratings, and mean number of ratings per unit.
    ratings: f64,
    unit_size: f64,
    /// Mean number of units per cluster.
    cluster_size: f64,
}

impl DrawnRatings {
    /// Takes the ratings of each unit as indexes below `values`, with the cluster of the unit.
    fn new<K: Ord>(placed: Vec<(Vec<usize>, K)>, values: usize) -> Result<Self, UndefinedReason> {
        let units = placed.len() as f64;
        let ratings = placed.iter().map(|(places, _)| places.len()).sum::<usize>() as f64;
        let mut clusters: BTreeMap<K, ClusterRatings> = BTreeMap::new();
        for (places, cluster) in placed {
            let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
            for place in places {
                *counts.entry(place).or_default() += 1.0;
            }
            clusters.entry(cluster).or_default().units.push(counts.into_iter().collect());
        }
        match clusters.len() {
            0 => return Err(UndefinedReason::NoPairs),
            1 => return Err(UndefinedReason::OneCluster),
            _ if values < 2 => return Err(UndefinedReason::ChanceIsCertain),
            _ => {}
        }

        Ok(Self {
            values,
            ratings,
            unit_size: ratings / units,
            cluster_size: units / clusters.len() as f64,
            clusters: clusters.into_values().collect(),
        })
    }

    fn interval<R: RngCore + ?Sized>(
        &self,
        estimate: f64,
        draws: usize,
        level: ConfidenceLevel,
        random: &mut R,
        figure: impl Fn(&RatingSample) -> Result<f64, UndefinedReason>,
    ) -> Result<Interval, UndefinedReason> {
        let (mut low, mut high) = (estimate, estimate);
        for prior in PRIORS {
            let mut figures: Vec<f64> =
                (0..draws).filter_map(|_| figure(&self.sample(prior, random)).ok()).collect();
            if (draws - figures.len()) * UNDEFINED_ONE_IN > draws {
                return Err(UndefinedReason::TooFew);
            }

            figures.sort_by(f64::total_cmp);
            let at = |share| quantile(&figures, share).ok_or(UndefinedReason::TooFew);
            low = low.min(at(level.tail())?);
            high = high.max(at(1.0 - level.tail())?);
        }

        // If the estimate is 1, the true value may be 1 too.
        let high = if estimate >= 1.0 - ROUNDING { 1.0 } else { high };
        Ok(Interval { low, high, level, method: IntervalMethod::Posterior })
    }

    /// Draws a sample with as many ratings as the data.
    fn sample<R: RngCore + ?Sized>(&self, prior: f64, random: &mut R) -> RatingSample {
        let values = self.values;
        let mut sample = RatingSample {
            counts: vec![0.0; values],
            weights: self.clusters.iter().map(|_| exponential(random)).collect(),
            agreeing: Vec::with_capacity(values),
            disagreeing: (0, 0, 0.0),
            unit_size: self.unit_size,
        };
        for (cluster, weight) in self.clusters.iter().zip(&sample.weights) {
            for (value, count) in cluster.units.iter().flatten() {
                sample.counts[*value] += weight * count;
            }
        }

        // Half of the pseudo units agree, on any value; the others do not. Each one has the size of a
        // cluster.
        for count in &mut sample.counts {
            let weight = self.cluster_size * gamma(prior / 2.0 / values as f64, random);
            sample.agreeing.push(weight);
            *count += weight * self.unit_size;
        }
        let weight = self.cluster_size * gamma(prior / 2.0, random);
        let pick = |n: usize, random: &mut R| ((uniform(random) * n as f64) as usize).min(n - 1);
        let first = pick(values, random);
        let second = (first + 1 + pick(values - 1, random)) % values;
        sample.disagreeing = (first, second, weight);
        for value in [first, second] {
            sample.counts[value] += weight * self.unit_size / 2.0;
        }

        let scale = self.ratings / sample.counts.iter().sum::<f64>();
        let all = sample.counts.iter_mut().chain(&mut sample.weights).chain(&mut sample.agreeing);
        all.for_each(|number| *number *= scale);
        sample.disagreeing.2 *= scale;
        sample
    }
}

/// Alpha of a weighted sample.
fn weighted_alpha(
    sample: &RatingSample,
    clusters: &[ClusterRatings],
    values: &[f64],
    metric: AlphaMetric,
) -> Result<f64, UndefinedReason> {
    let counts = &sample.counts;
    let n: f64 = counts.iter().sum();
    let places: Vec<f64> = match metric {
        AlphaMetric::Nominal => Vec::new(),
        AlphaMetric::Ordinal => {
            let mut below = 0.0;
            let middle = |count: &f64| {
                below += count;
                below - count / 2.0
            };
            counts.iter().map(middle).collect()
        }
        AlphaMetric::Interval | AlphaMetric::Ratio => values.to_vec(),
    };
    let distance = |a: usize, b: usize| match metric {
        AlphaMetric::Nominal => f64::from(u8::from(a != b)),
        AlphaMetric::Ordinal | AlphaMetric::Interval => (places[a] - places[b]).powi(2),
        AlphaMetric::Ratio if places[a] + places[b] == 0.0 => 0.0,
        AlphaMetric::Ratio => ((places[a] - places[b]) / (places[a] + places[b])).powi(2),
    };
    // Twice each unordered pair of values, times the number of ratings of both.
    let pairs = |counts: &[(usize, f64)]| -> f64 {
        let later = |at: usize| {
            let (value, count) = counts[at];
            counts[at + 1..].iter().map(move |&(other, others)| (value, other, count * others))
        };
        let all = (0..counts.len()).flat_map(later);
        2.0 * all.map(|(a, b, product)| product * distance(a, b)).sum::<f64>()
    };

    let mut observed = 0.0;
    for (cluster, weight) in clusters.iter().zip(&sample.weights) {
        for unit in &cluster.units {
            let size: f64 = unit.iter().map(|(_, count)| count).sum();
            observed += weight * pairs(unit) / (size - 1.0);
        }
    }
    let (first, second, weight) = sample.disagreeing;
    observed += weight * sample.unit_size * distance(first, second);

    let expected = match metric {
        AlphaMetric::Nominal => n * n - counts.iter().map(|count| count * count).sum::<f64>(),
        AlphaMetric::Ordinal | AlphaMetric::Interval => {
            let with = || counts.iter().zip(&places);
            let mean = with().map(|(count, place)| count * place).sum::<f64>() / n;
            2.0 * n * with().map(|(count, place)| count * (place - mean).powi(2)).sum::<f64>()
        }
        AlphaMetric::Ratio => pairs(&counts.iter().copied().enumerate().collect::<Vec<_>>()),
    };
    if expected > 0.0 {
        check_finite(1.0 - (n - 1.0) * observed / expected)
    } else {
        Err(UndefinedReason::ChanceIsCertain)
    }
}

/// Computes Gwet's coefficient of a weighted sample. Agreement is computed from units with two ratings or
/// more, the shares of answers from all units.
fn weighted_gwet(
    sample: &RatingSample,
    clusters: &[ClusterRatings],
    matrix: &[Vec<f64>],
) -> Result<f64, UndefinedReason> {
    let (first, second, other) = sample.disagreeing;
    let pseudo = sample.agreeing.iter().sum::<f64>() + other;
    let (mut agreed, mut rated_twice) = (pseudo - other + other * matrix[first][second], pseudo);
    let mut shares = sample.agreeing.clone();
    shares[first] += other / 2.0;
    shares[second] += other / 2.0;

    for (cluster, weight) in clusters.iter().zip(&sample.weights) {
        for unit in &cluster.units {
            let size: f64 = unit.iter().map(|(_, count)| count).sum();
            for (value, count) in unit {
                shares[*value] += weight * count / size;
            }
            if size > 1.0 {
                let credit = |value: usize| -> f64 {
                    unit.iter().map(|(other, count)| matrix[value][*other] * count).sum()
                };
                let pairs: f64 = unit.iter().map(|(value, count)| count * (credit(*value) - 1.0)).sum();
                agreed += weight * pairs / (size * (size - 1.0));
                rated_twice += weight;
            }
        }
    }

    let (all, answers) = (shares.iter().sum::<f64>(), shares.len() as f64);
    let spread: f64 = shares.iter().map(|share| share / all * (1.0 - share / all)).sum();
    let credit: f64 = matrix.iter().flatten().sum();
    let by_chance = credit / (answers * (answers - 1.0)) * spread;
    if by_chance < 1.0 {
        check_finite((agreed / rated_twice - by_chance) / (1.0 - by_chance))
    } else {
        Err(UndefinedReason::ChanceIsCertain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    /// A sample with every cluster once and without pseudo units.
    fn plain(drawn: &DrawnRatings) -> RatingSample {
        let mut counts = vec![0.0; drawn.values];
        for (value, count) in drawn.clusters.iter().flat_map(|cluster| &cluster.units).flatten() {
            counts[*value] += count;
        }
        RatingSample {
            counts,
            weights: vec![1.0; drawn.clusters.len()],
            agreeing: vec![0.0; drawn.values],
            disagreeing: (0, 1, 0.0),
            unit_size: drawn.unit_size,
        }
    }

    #[test]
    fn a_sample_without_weights_has_the_coefficient_itself() {
        let units: [&[f64]; 6] =
            [&[1.0, 2.0, 2.0], &[3.0, 3.0], &[1.0, 1.0, 5.0], &[5.0, 3.0, 3.0], &[2.0, 2.0], &[4.0, 5.0]];
        let mut ratings = UnitRatings::new();
        for unit in units {
            ratings.push(unit.iter().copied());
        }
        let scale = RatingScale::new([1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let placed = units
            .iter()
            .enumerate()
            .map(|(at, unit)| (unit.iter().map(|rating| scale.position(*rating).unwrap()).collect(), at));
        let drawn = DrawnRatings::new(placed.collect(), scale.len()).unwrap();
        let sample = plain(&drawn);

        let metrics = [AlphaMetric::Nominal, AlphaMetric::Ordinal, AlphaMetric::Interval, AlphaMetric::Ratio];
        for metric in metrics {
            let found = weighted_alpha(&sample, &drawn.clusters, scale.points(), metric).unwrap();
            assert!((found - alpha(&ratings, metric).value.unwrap()).abs() < 1e-12, "{metric:?}");
        }
        for weights in [AgreementWeights::Identity, AgreementWeights::Quadratic] {
            let found = weighted_gwet(&sample, &drawn.clusters, &weights.matrix(scale.points())).unwrap();
            let chance = ChanceAgreement::Gwet;
            let exact = coefficient(&ratings, &scale, weights, chance, ConfidenceLevel::P95).value.unwrap();
            assert!((found - exact).abs() < 1e-12, "{weights:?}: {found} beside {exact}");
        }
    }

    #[test]
    fn full_agreement_has_a_width_and_one_cluster_has_none() {
        let mut ratings = UnitRatings::new();
        (0..12).for_each(|at| ratings.push([f64::from(u8::from(at < 8)); 3]));
        let names: Vec<usize> = (0..12).collect();
        let mut random = SeededRandom::new(1);
        let mut found = |names: &[usize]| {
            alpha_interval(&ratings, names, AlphaMetric::Nominal, 500, ConfidenceLevel::P95, &mut random)
        };
        let interval = found(&names).unwrap();
        assert!(interval.low < 0.95 && interval.low > 0.3 && interval.high == 1.0, "{interval:?}");
        assert_eq!(found(&[0; 12]), Err(UndefinedReason::OneCluster));

        // All met: alpha is undefined, AC1 is 1 and uncertain.
        let mut same = UnitRatings::new();
        (0..12).for_each(|_| same.push([1.0; 2]));
        let scale = (&RatingScale::binary(), AgreementWeights::Identity);
        let interval = gwet_interval(&same, &names, scale, 500, ConfidenceLevel::P95, &mut random).unwrap();
        assert!(interval.low < 0.95 && interval.high == 1.0, "{interval:?}");
        let alpha =
            alpha_interval(&same, &names, AlphaMetric::Nominal, 500, ConfidenceLevel::P95, &mut random);
        assert_eq!(alpha, Err(UndefinedReason::ChanceIsCertain));
    }
}
