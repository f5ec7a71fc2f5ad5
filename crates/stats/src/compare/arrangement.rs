//! A permutation test for any statistic of repeated measurements if some of them were made in a different way.

use std::collections::BTreeMap;

use rand_core::RngCore;

use super::exchange::{SUMMATION_TOLERANCE, index_below, share_of_draws};
use crate::{UndefinedReason, undefined::check_all_finite};

/// Maximum number of arrangements of one unit: all of them for up to six measurements, otherwise this many at
/// random.
const MAX_ARRANGEMENTS: usize = 720;

/// The variance under no effect counts as much as this many clusters, in addition to the observed spread.
const PRIOR_CLUSTERS: f64 = 10.0;

/// Returns orders in which `n` measurements could have been made: all of them, or the given one first and
/// others at random. In row `a`, the measurement at a position is `orders[a][position]`.
pub fn arrangements<R: RngCore + ?Sized>(n: usize, random: &mut R) -> Vec<Vec<usize>> {
    let given: Vec<usize> = (0..n).collect();
    let all =
        (1..=n).try_fold(1_usize, |all, factor| Some(all * factor).filter(|all| *all <= MAX_ARRANGEMENTS));
    if all.is_none() {
        let mut shuffled = given.clone();
        let mut draw = || {
            for at in 0..n {
                let other = at + index_below(n - at, random);
                shuffled.swap(at, other);
            }
            shuffled.clone()
        };
        return std::iter::once(given).chain((1..MAX_ARRANGEMENTS).map(|_| draw())).collect();
    }

    // The lexicographically next order, from the ascending to the descending one.
    std::iter::successors(Some(given), |order| {
        let mut next = order.clone();
        let rise = next.windows(2).rposition(|two| two[0] < two[1])?;
        let above = next.iter().rposition(|value| *value > next[rise])?;
        next.swap(rise, above);
        next[rise + 1..].reverse();
        Some(next)
    })
    .collect()
}

/// A statistic of one unit, such as the decisions of several calls about a text.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrangedUnit<K> {
    /// The cluster of the unit.
    pub cluster: K,
    /// The statistic for each of the [`arrangements`] of the measurements, the observed one first. Its mean
    /// over all arrangements must be 0.
    pub values: Vec<f64>,
}

/// The alternative of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestSide {
    /// The mean is above 0.
    Above,
    /// The mean differs from 0.
    Both,
}

/// The result of [`arrangement_test`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrangementTest {
    /// Number of clusters.
    pub clusters: usize,
    /// Mean over clusters of the observed statistic, which is summed within each cluster.
    pub mean: f64,
    /// Share of arrangements that are at least as far from no effect.
    pub p: f64,
    /// Number of random arrangements of all units.
    pub drawn: u32,
}

/// Tests whether the way in which measurements were made affects them. If it does not, the measurements of a unit could
/// have been made in any arrangement. So p is exact for any number of units, for rare and coarse noise, and for any
/// dependence between the parts of one measurement.
///
/// The sum over clusters is divided by the root of `(m q + 10 v) / (m + 10)`, where m is the number of clusters whose
/// statistic depends on the arrangement, q the sum of squares over clusters, and v its mean over all arrangements. With
/// many clusters this is the studentised sum, which does not mistake an effect on the spread for one on the mean more
/// often than it should. With few clusters q is too imprecise, and would hide effects on the mean.
///
/// Sources: J. Hemerik and J. Goeman, TEST 27 (2018), 811-825, for the random choice among arrangements; A.
/// Janssen, Statistics and Probability Letters 36 (1997), 9-21, for the studentised statistic; V. Tusher, R.
/// Tibshirani and G. Chu, PNAS 98 (2001), 5116-5121, for adding a constant to the spread; J. Besag and P.
/// Clifford, Biometrika 78 (1991), 301-304, for the rule that ends the drawing.
pub fn arrangement_test<K: Ord, R: RngCore + ?Sized>(
    units: &[ArrangedUnit<K>],
    side: TestSide,
    draws: u32,
    random: &mut R,
) -> Result<ArrangementTest, UndefinedReason> {
    if units.is_empty() || units.iter().any(|unit| unit.values.is_empty()) {
        return Err(UndefinedReason::NoValues);
    }
    for unit in units {
        check_all_finite(&unit.values)?;
    }

    let clusters = by_cluster(units);
    let observed = units.iter().map(|unit| unit.values[0]).sum::<f64>();
    let statistic = SpreadStatistic::new(&clusters, side);

    let first: Vec<f64> =
        statistic.varying.iter().map(|cluster| cluster.iter().map(|values| values[0]).sum()).collect();
    let reference = statistic.compute(&first);
    let mut sums = first;
    let (p, drawn) = share_of_draws(draws, || {
        for (sum, cluster) in sums.iter_mut().zip(&statistic.varying) {
            *sum = cluster.iter().map(|values| values[index_below(values.len(), random)]).sum();
        }
        statistic.compute(&sums) >= reference - SUMMATION_TOLERANCE * reference.abs()
    });

    Ok(ArrangementTest { clusters: clusters.len(), mean: observed / clusters.len() as f64, p, drawn })
}

/// Groups the values of units by cluster.
fn by_cluster<K: Ord>(units: &[ArrangedUnit<K>]) -> Vec<Vec<&[f64]>> {
    let mut clusters: BTreeMap<&K, Vec<&[f64]>> = BTreeMap::new();
    for unit in units {
        clusters.entry(&unit.cluster).or_default().push(&unit.values);
    }

    clusters.into_values().collect()
}

/// The sum over clusters, in units of its spread.
struct SpreadStatistic<'a> {
    /// Clusters whose statistic depends on the arrangement. The others add 0 to each sum.
    varying: Vec<Vec<&'a [f64]>>,
    /// Sum over clusters of the mean square under all arrangements.
    variance: f64,
    side: TestSide,
}

impl<'a> SpreadStatistic<'a> {
    fn new(clusters: &[Vec<&'a [f64]>], side: TestSide) -> Self {
        let varies = |values: &&[f64]| values.iter().any(|value| value.abs() > SUMMATION_TOLERANCE);
        let varying: Vec<Vec<&[f64]>> = clusters
            .iter()
            .map(|cluster| cluster.iter().copied().filter(varies).collect::<Vec<_>>())
            .filter(|cluster| !cluster.is_empty())
            .collect();
        let mean_square =
            |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
        // Units are arranged independently and their means are 0, so variances add up.
        let variance = varying.iter().flatten().map(|values| mean_square(values)).sum();

        Self { varying, variance, side }
    }

    fn compute(&self, sums: &[f64]) -> f64 {
        let (sum, squares) = sums.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let spread = (sums.len() as f64 * squares + PRIOR_CLUSTERS * self.variance).sqrt();
        match self.side {
            _ if sum.abs() <= SUMMATION_TOLERANCE * spread => 0.0,
            TestSide::Above => sum / spread,
            TestSide::Both => sum.abs() / spread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    /// A unit with three measurements. The last one was made in a different way; the statistic is its value minus the
    /// mean of the others.
    fn unit(cluster: usize, measured: [f64; 3]) -> ArrangedUnit<usize> {
        let orders = arrangements(3, &mut SeededRandom::new(0));
        let difference = |order: &Vec<usize>| {
            let [a, b, c] = [0, 1, 2].map(|place| measured[order[place]]);
            c - f64::midpoint(a, b)
        };
        ArrangedUnit { cluster, values: orders.iter().map(difference).collect() }
    }

    fn test(units: &[ArrangedUnit<usize>], side: TestSide) -> ArrangementTest {
        arrangement_test(units, side, 9_999, &mut SeededRandom::new(1)).expect("defined")
    }

    #[test]
    fn arrangements_are_all_or_many_with_the_given_one_first() {
        let orders = |n| arrangements(n, &mut SeededRandom::new(3));
        assert_eq!(orders(0), [Vec::<usize>::new()]);
        assert_eq!(orders(3), [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
        for (n, expected) in [(6, 720), (7, MAX_ARRANGEMENTS), (30, MAX_ARRANGEMENTS)] {
            let found = orders(n);
            assert_eq!((found.len(), found[0].clone()), (expected, (0..n).collect()));
            let is_order = |order: &Vec<usize>| {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                sorted.iter().copied().eq(0..n)
            };
            assert!(found.iter().all(is_order));
        }
    }

    #[test]
    fn p_is_the_share_of_arrangements() {
        // In each unit, one of three measurements is 1; by chance, it is the last one in a third of the
        // arrangements.
        let units: Vec<_> = (0..4).map(|at| unit(at, [0.0, 0.0, 1.0])).collect();
        let found = test(&units, TestSide::Above);
        assert_eq!((found.clusters, found.mean), (4, 1.0));
        assert!((found.p - 1.0 / 81.0).abs() < 0.004, "{found:?}");

        // The lowest possible sum is -1/2 from each unit, which is not as far from 0 as a sum of 4.
        let both = test(&units, TestSide::Both);
        assert!((both.p - 1.0 / 81.0).abs() < 0.004, "{both:?}");
        // Units that are the same in every arrangement only change the mean.
        let diluted = [units, (4..8).map(|at| unit(at, [1.0; 3])).collect()].concat();
        let found = test(&diluted, TestSide::Above);
        assert_eq!((found.clusters, found.mean), (8, 0.5));
        assert!((found.p - 1.0 / 81.0).abs() < 0.004, "{found:?}");
        // A downward shift is not an upward one.
        let down: Vec<_> = (0..4).map(|at| unit(at, [1.0, 1.0, 0.0])).collect();
        assert_eq!(test(&down, TestSide::Above).p, 1.0);
        assert!(test(&down, TestSide::Both).p < 0.02);
    }

    #[test]
    fn an_effect_on_the_spread_alone_is_seldom_taken_for_one_on_the_mean() {
        let mut random = SeededRandom::new(5);
        let mut claims = 0;
        for _ in 0..400 {
            // The last measurement is as often above as below the other two, which are equal.
            let units: Vec<_> = (0..60)
                .map(|at| unit(at, [0.0, 0.0, if random.next_u32().is_multiple_of(2) { 1.0 } else { -1.0 }]))
                .collect();
            let found = arrangement_test(&units, TestSide::Both, 999, &mut random).expect("defined");
            claims += u32::from(found.p <= 0.05);
        }
        // 5 % of 400 are 20, with a standard deviation of 4.4. Without the division by the spread, 16 % would
        // be significant.
        assert!(claims <= 34, "{claims} of 400");
    }

    #[test]
    fn what_was_not_measured_is_undefined() {
        let mut random = SeededRandom::new(1);
        let empty: &[ArrangedUnit<usize>] = &[];
        let hollow = [ArrangedUnit { cluster: 0, values: Vec::new() }];
        let infinite = [ArrangedUnit { cluster: 0, values: vec![f64::NAN] }];
        for units in [empty, &hollow[..], &infinite[..]] {
            assert!(arrangement_test(units, TestSide::Both, 99, &mut random).is_err());
        }
        let alike = [unit(0, [1.0; 3])];
        assert_eq!(test(&alike, TestSide::Both).p, 1.0);
    }
}
