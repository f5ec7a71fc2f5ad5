//! Means of values that have a smallest and a largest possible value, such as scores: intervals that stay within that
//! range, and that have a width even if the values show no spread.
//!
//! Design: `docs/design/statistics.md`.

use crate::{
    BoundedMean, ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    bounded_mean::{EffectiveMean, SUMMATION_TOLERANCE, wilson_ends},
    distribution::student_two_sided,
    power::PowerDesign,
    undefined::{check_all_finite, check_finite},
    units::{MIN_FREEDOM, UnitSums, cluster_critical_value},
};

/// A difference counts as out of reach if it takes more than this many times as many pairs to detect it.
const MAX_FACTOR: f64 = 1e9;
/// Number of bisection steps in the search for that factor.
const HALVINGS: u32 = 60;

/// Computes the mean of independent values between `range.0` and `range.1`. Sources: E. B. Wilson, Journal of the
/// American Statistical Association 22 (1927), 209-212; effective sample sizes: E. Korn and B. Graubard, Survey
/// Methodology 24 (1998), 193-201; Wilson's interval with them: C. Franco, R. Little, T. Louis and E. Slud, Journal
/// of Survey Statistics and Methodology 7 (2019), 334-364.
///
/// Values that are close together may hide rare ones at an end of the range. An end of the interval is
/// therefore at least as far out as the quantile of the mean with random weights. These have a Dirichlet
/// distribution with parameter 1 for each value, and `sqrt(w / 25) / 2` for a value at either end of the
/// range, where w is the effective number per value, at most 25. Source: N. Gaffke, Three test statistics for
/// a nonparametric one-sided hypothesis on the mean of a nonnegative variable, Mathematical Methods of
/// Statistics 14 (2005), 451-467; E. Learned-Miller and P. Thomas, A new confidence interval for the mean of
/// a bounded random variable (2020), arXiv:1905.06208. Theirs has parameter 1 at the nearer end only; the
/// weights here are Assize's own, chosen by simulation.
pub fn bounded_mean(
    values: &[f64],
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<BoundedMean, UndefinedReason> {
    let positions: Vec<usize> = (0..values.len()).collect();
    bounded_mean_clustered(values, &positions, range, level)
}

/// Computes [`bounded_mean`] of values in clusters, with the clustered error; `clusters` names the cluster of
/// each value. Clusters of different sizes count as `n^2 / sum(size^2)` equal ones. The deviation of a
/// cluster counts more the larger its share of the sample is (CR2), because a large cluster pulls the mean
/// towards itself. The error is smoothed by a tenth of a cluster at either end of the range, and the weight
/// of a value is that of its cluster. The limit of the effective number is Assize's own, chosen by
/// simulation.
pub fn bounded_mean_clustered<K: Ord>(
    values: &[f64],
    clusters: &[K],
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<BoundedMean, UndefinedReason> {
    Ok(UnitSums::new(values, clusters, range)?.bounded_mean(range, level))
}

/// Largest possible fall and rise of a pair, both above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DifferenceReach {
    /// Largest fall.
    pub fall: f64,
    /// Largest rise.
    pub rise: f64,
}

impl DifferenceReach {
    /// Minimum reach in either direction, used if all scores are at one end.
    const MIN_REACH: f64 = 0.05;

    /// Returns a reach of the same size in both directions.
    pub const fn symmetric(reach: f64) -> Self {
        Self { fall: reach, rise: reach }
    }

    /// Returns the reach of scores from 0 to 1. Cases outside the sample may fall even if no case in it did. They can
    /// fall at most by the mean of `before`, or by the distance from the mean of `after` to 1 if that is larger, so
    /// swapping the sides mirrors the reach. Larger observed differences extend it.
    pub fn of_scores(before: &[f64], after: &[f64]) -> Self {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let (from, to) = (mean(before), mean(after));
        let largest = |first: &[f64], second: &[f64], least: f64| {
            first.iter().zip(second).map(|(first, second)| first - second).fold(least, f64::max)
        };

        Self {
            fall: largest(before, after, from.max(1.0 - to).max(Self::MIN_REACH)),
            rise: largest(after, before, to.max(1.0 - from).max(Self::MIN_REACH)),
        }
    }
}

/// Mean of paired differences that lie within a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedDifference {
    /// Number of clusters; the number of differences if each is independent.
    pub units: usize,
    /// Mean of the differences.
    pub difference: f64,
    /// Number of clusters of equal size that would carry as much information.
    pub effective_units: f64,
    rises: EffectiveMean,
    falls: EffectiveMean,
    /// Correlation of the rises and falls of a cluster.
    correlation: f64,
    /// `effective_units`, counting only clusters whose differences do not cancel.
    differing: f64,
    reach: DifferenceReach,
}

/// Computes the mean of paired differences from two parts, the mean rise and the mean fall. Each has Wilson's
/// interval on its effective number, as in [`bounded_mean_clustered`], and the two are combined by the
/// distances of their ends. So rare large falls beside many small rises are taken into account, which the t
/// interval does not do. Sources: G. Zou and A. Donner, Statistics in Medicine 27 (2008), 1693-1702 (MOVER);
/// with a correlation: R. Newcombe, Statistics in Medicine 17 (1998), 2635-2650, and G. Zou, American Journal
/// of Epidemiology 168 (2008), 212-224.
pub fn bounded_difference<K: Ord>(
    differences: &[f64],
    clusters: &[K],
    reach: DifferenceReach,
) -> Result<BoundedDifference, UndefinedReason> {
    check_all_finite(differences)?;
    let tolerance = SUMMATION_TOLERANCE * reach.fall.max(reach.rise);
    let part = |sign: f64, most: f64| -> Result<UnitSums, UndefinedReason> {
        let values: Vec<f64> = differences
            .iter()
            .map(|value| if value.abs() <= tolerance { 0.0 } else { (sign * value).max(0.0) })
            .collect();
        UnitSums::new(&values, clusters, (0.0, most)).map(UnitSums::without_verdicts)
    };
    let (rises, falls) = (part(1.0, reach.rise)?, part(-1.0, reach.fall)?);

    let (up, down) = (rises.deviations(), falls.deviations());
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let spread = (product(&up, &up) * product(&down, &down)).sqrt();
    let correlation = if spread > 0.0 { (product(&up, &down) / spread).clamp(-1.0, 1.0) } else { 0.0 };

    let differing = rises.units().zip(falls.units()).filter_map(|((rise, size), (fall, _))| {
        ((reach.rise * rise - reach.fall * fall).abs() > tolerance).then_some(size)
    });
    let (size, squares) = differing.fold((0.0, 0.0), |(n, squares), size| (n + size, squares + size * size));
    Ok(BoundedDifference {
        units: rises.count(),
        effective_units: rises.effective_count(),
        differing: if squares > 0.0 { size * size / squares } else { 0.0 },
        difference: differences.iter().sum::<f64>() / differences.len() as f64,
        rises: rises.effective_mean(),
        falls: falls.effective_mean(),
        correlation,
        reach,
    })
}

/// Two-sided probability that all of this many fair coins show the same side.
fn one_way(coins: f64) -> f64 {
    0.5_f64.powf(coins - 1.0).min(1.0)
}

/// Quantiles that determine what a test can detect: one for its interval and one for its power.
struct PowerQuantiles {
    critical: f64,
    power: f64,
}

impl BoundedDifference {
    /// Returns the interval of the mean difference, within its reach. Undefined for a single cluster.
    pub fn interval(&self, level: ConfidenceLevel) -> Result<Interval, UndefinedReason> {
        if self.units < 2 {
            return Err(UndefinedReason::OneValue);
        }

        let critical = cluster_critical_value(self.effective_units, level)?;
        let (low, high) = self.ends(critical);
        Ok(Interval { low, high, level, method: IntervalMethod::WilsonRisesFalls })
    }

    /// Returns the two-sided p value of no difference: the largest error probability at which the interval
    /// contains 0, but at least `2 / 2^m` if m clusters of equal size differ. If neither side is better, each
    /// cluster is as likely to rise as to fall, and all go one way with that probability; with four to eight
    /// clusters, the interval alone is wrong in 8 to 10 % of samples. Source: R. A. Fisher, The Design of
    /// Experiments (1935).
    pub fn p(&self) -> Result<f64, UndefinedReason> {
        if self.units < 2 {
            return Err(UndefinedReason::OneValue);
        }

        let holds_zero = |critical: f64| {
            let (low, high) = self.ends(critical);
            low <= 0.0 && high >= 0.0
        };
        // The interval grows with the quantile, so there is a smallest quantile at which it contains 0.
        let (mut short, mut long) = (0.0, 1.0);
        while !holds_zero(long) {
            short = long;
            long *= 2.0;
            if long > 1e6 {
                return Ok(self.least_p());
            }
        }
        for _ in 0..60 {
            let middle = f64::midpoint(short, long);
            if holds_zero(middle) { long = middle } else { short = middle }
        }

        let freedom = self.effective_units - 1.0;
        Ok(student_two_sided(long, freedom.max(MIN_FREEDOM)).max(self.least_p()))
    }

    /// Probability that all clusters that differ go one way by chance.
    fn least_p(&self) -> f64 {
        one_way(self.differing)
    }

    /// Returns the approximate smallest mean difference of pairs like these whose interval excludes 0 with the power of
    /// the design; `se` is the standard error of the mean difference. A difference must exceed the distance from the
    /// mean to the end of the interval, by as much as an estimate may fall short of the truth at that power. That
    /// distance is the larger of the two observed ones, and at least the distance for pairs that all move one way, in
    /// which case only the number of clusters determines how far unobserved pairs may move the other way. Unreachable
    /// if it is more than a pair can differ. Source for the sum of the two: Miller, arXiv 2411.00640, equation 9, with
    /// quantiles of Student's t.
    pub fn detectable(&self, se: f64, design: PowerDesign) -> Result<f64, UndefinedReason> {
        let quantiles = self.quantiles(1.0, design)?;
        if one_way(self.effective_units) > design.alpha() + SUMMATION_TOLERANCE {
            return Err(UndefinedReason::Unreachable);
        }

        let square = quantiles.critical * quantiles.critical;
        let unseen = square / (self.effective_units + square);
        let (low, high) = self.ends(quantiles.critical);
        let centre = self.centre();
        let DifferenceReach { fall, rise } = self.reach;

        let needed =
            [(high - centre, rise), (centre - low, fall)].into_iter().map(|(observed, other_way)| {
                let one_way = (unseen * other_way).hypot(quantiles.critical * se);
                observed.max(one_way) + quantiles.power * se
            });
        let needed = check_finite(needed.fold(0.0, f64::max))?;
        if needed <= fall.min(rise) { Ok(needed) } else { Err(UndefinedReason::Unreachable) }
    }

    /// Returns the approximate growth factor that the number of pairs like these, and of their clusters, needs for
    /// their interval to exclude 0 at the observed mean difference, with the power of the design. Undefined for the
    /// same reasons as [`detectable`](Self::detectable).
    pub fn factor_to_detect(&self, se: f64, design: PowerDesign) -> Result<f64, UndefinedReason> {
        let wanted = self.centre().abs();
        if wanted == 0.0 {
            return Err(UndefinedReason::Unreachable);
        }

        let is_enough = |factor: f64| -> Result<bool, UndefinedReason> {
            let quantiles = self.quantiles(factor, design)?;
            let more = |part: EffectiveMean| EffectiveMean { effective_n: part.effective_n * factor, ..part };
            let scaled = Self { rises: more(self.rises), falls: more(self.falls), ..*self };
            let (low, high) = scaled.ends(quantiles.critical);
            let towards_zero = if self.centre() < 0.0 { high - self.centre() } else { self.centre() - low };
            Ok(towards_zero + quantiles.power * se / factor.sqrt() <= wanted)
        };
        let (mut low, mut high) = (1.0, 1.0);
        while !is_enough(high)? {
            low = high;
            high *= 2.0;
            if high > MAX_FACTOR {
                return Err(UndefinedReason::Unreachable);
            }
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if is_enough(middle)? { high = middle } else { low = middle }
        }

        Ok(high)
    }

    /// Quantiles of Student's t with `factor` times as many clusters: of the interval, and of the power.
    fn quantiles(&self, factor: f64, design: PowerDesign) -> Result<PowerQuantiles, UndefinedReason> {
        if self.units < 2 {
            return Err(UndefinedReason::OneValue);
        }

        let clusters = self.effective_units * factor;
        let both_sides =
            ConfidenceLevel::new(2.0 * design.power() - 1.0).map_err(|_| UndefinedReason::OutOfRange)?;
        Ok(PowerQuantiles {
            critical: cluster_critical_value(clusters, design.level())?,
            power: cluster_critical_value(clusters, both_sides)?,
        })
    }

    fn centre(&self) -> f64 {
        self.reach.rise * self.rises.mean - self.reach.fall * self.falls.mean
    }

    fn ends(&self, critical: f64) -> (f64, f64) {
        let parts = |part: EffectiveMean, reach: f64| {
            let (low, high) = wilson_ends(part.mean, part.effective_n, critical);
            (reach * (part.mean - low).max(0.0), reach * (high - part.mean).max(0.0))
        };
        let DifferenceReach { fall, rise } = self.reach;
        let ((rise_down, rise_up), (fall_down, fall_up)) = (parts(self.rises, rise), parts(self.falls, fall));
        let combine = |one: f64, other: f64| {
            (one * one + other * other - 2.0 * self.correlation * one * other).max(0.0).sqrt()
        };

        let centre = self.centre();
        let low = centre - combine(rise_down, fall_up);
        let high = centre + combine(rise_up, fall_down);
        (low.max(-fall), high.min(rise))
    }
}
