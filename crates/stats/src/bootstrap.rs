//! Bootstrap intervals: for the mean, for clustered means, and for any statistic.

use rand_core::RngCore;

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    cluster::group_by_cluster,
    distribution::{normal_upper_quantile, normal_upper_tail, student_critical_value},
    random::RandomIndices,
    rank::quantile,
    undefined::{check_all_finite, check_finite},
};

/// Result of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapEstimate {
    /// The statistic computed on the data themselves.
    pub estimate: f64,
    /// Number of resamples for which the statistic is defined.
    pub resamples: usize,
    /// Number of resamples for which it is undefined (such as a kappa of constant verdicts). They are
    /// excluded.
    pub undefined: usize,
    /// Standard deviation of the resampled statistics (divisor: their number).
    pub se: f64,
    /// Interval from the lower to the upper percentile of the resampled statistics.
    pub percentile: Interval,
    /// Percentile interval corrected for bias and skew (BCa). Undefined if the resamples do not vary or all
    /// lie on one side of the estimate.
    pub bca: Result<Interval, UndefinedReason>,
}

impl BootstrapEstimate {
    /// Returns true if every resample gave the same value, so that the interval has no width. This shows that
    /// the data do not vary, not that there is no uncertainty.
    pub fn is_constant(&self) -> bool {
        self.percentile.low == self.percentile.high
    }
}

/// Returns the level for a percentile interval of resampled units whose coverage is about `level`. Its ends are the
/// percentiles at the distance of Student's t, with one degree of freedom less than there are units, times the root of
/// `n / (n - 1)`. Source: T. Hesterberg, The American Statistician 69 (2015), 371-386, section 5.3.
pub fn expanded_level(level: ConfidenceLevel, units: usize) -> Result<ConfidenceLevel, UndefinedReason> {
    at_least_two(units)?;
    let n = units as f64;
    let reach = (n / (n - 1.0)).sqrt() * student_critical_value(n - 1.0, level)?;
    // Limited so that a few of several thousand resamples are beyond the percentile.
    let tail = normal_upper_tail(reach).max(1e-3);
    ConfidenceLevel::new(1.0 - 2.0 * tail).map_err(|_| UndefinedReason::OutOfRange)
}

/// Bootstraps the mean by drawing values with replacement. Source: B. Efron, Annals of Statistics 7 (1979),
/// 1-26; BCa: B. Efron, Journal of the American Statistical Association 82 (1987), 171-185.
pub fn bootstrap_mean<R: RngCore + ?Sized>(
    values: &[f64],
    resamples: usize,
    level: ConfidenceLevel,
    random: &mut R,
) -> Result<BootstrapEstimate, UndefinedReason> {
    check_all_finite(values)?;
    let n = values.len();
    at_least_two(n)?;

    let count = n as f64;
    let estimate = check_finite(values.iter().sum::<f64>() / count)?;
    let mut indices = RandomIndices::new(n, random).ok_or(UndefinedReason::TooLarge)?;
    let figures = (0..resamples)
        .map(|_| {
            let mut sum = 0.0;
            for _ in 0..n {
                // Summed around the estimate, so that a small spread around a large mean is not lost.
                sum += values[indices.next()] - estimate;
            }

            estimate + sum / count
        })
        .collect();

    summarize_resamples(estimate, figures, 0, acceleration(values), level)
}

/// Bootstraps the mean of clustered values by drawing whole clusters with replacement; the mean of a resample
/// is over all its values. Source: A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application
/// (1997), section 3.8.
pub fn bootstrap_clustered_mean<K: Ord, R: RngCore + ?Sized>(
    values: &[f64],
    clusters: &[K],
    resamples: usize,
    level: ConfidenceLevel,
    random: &mut R,
) -> Result<BootstrapEstimate, UndefinedReason> {
    check_all_finite(values)?;
    let groups = group_by_cluster(values, clusters)?;
    match groups.len() {
        0 => return Err(UndefinedReason::NoValues),
        1 => return Err(UndefinedReason::OneCluster),
        _ => {}
    }

    let all = values.len() as f64;
    let estimate = check_finite(values.iter().sum::<f64>() / all)?;
    let parts: Vec<(f64, f64)> = groups
        .iter()
        .map(|members| {
            (members.iter().map(|&index| values[index] - estimate).sum::<f64>(), members.len() as f64)
        })
        .collect();

    let mut indices = RandomIndices::new(parts.len(), random).ok_or(UndefinedReason::TooLarge)?;
    let figures = (0..resamples)
        .map(|_| {
            let (mut sum, mut size) = (0.0, 0.0);
            for _ in 0..parts.len() {
                let (part, members) = parts[indices.next()];
                sum += part;
                size += members;
            }

            estimate + sum / size
        })
        .collect();

    let without: Vec<f64> = parts.iter().map(|(part, members)| estimate - part / (all - members)).collect();
    summarize_resamples(estimate, figures, 0, compute_acceleration(&without), level)
}

/// Bootstraps any statistic of n units (cases, clusters, rated items) by drawing units with replacement.
/// `figure` receives the positions of the drawn units, possibly repeated, and computes the statistic from
/// them. BCa also needs the statistic once without each unit, and is undefined if that would be more work
/// than the resampling.
pub fn bootstrap<R, F>(
    n: usize,
    resamples: usize,
    level: ConfidenceLevel,
    random: &mut R,
    mut figure: F,
) -> Result<BootstrapEstimate, UndefinedReason>
where
    R: RngCore + ?Sized,
    F: FnMut(&[usize]) -> Result<f64, UndefinedReason>,
{
    at_least_two(n)?;
    let mut drawn: Vec<usize> = (0..n).collect();
    let estimate = check_finite(figure(&drawn)?)?;
    let without: Result<Vec<f64>, UndefinedReason> = if n > resamples {
        Err(UndefinedReason::TooLarge)
    } else {
        (0..n)
            .map(|out| {
                let rest: Vec<usize> = (0..n).filter(|&index| index != out).collect();
                figure(&rest)
            })
            .collect()
    };

    let mut indices = RandomIndices::new(n, random).ok_or(UndefinedReason::TooLarge)?;
    let mut figures = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        drawn.fill_with(|| indices.next());
        figures.extend(figure(&drawn).and_then(check_finite));
    }

    let undefined = resamples - figures.len();
    summarize_resamples(
        estimate,
        figures,
        undefined,
        without.and_then(|without| compute_acceleration(&without)),
        level,
    )
}

/// Largest number of values for which all resamples can be enumerated.
pub const MAX_EXHAUSTIVE_VALUES: usize = 7;

/// Bootstraps the mean over all n^n resamples, for up to [`MAX_EXHAUSTIVE_VALUES`] values: the limit of random
/// resampling. Source: N. Fisher and P. Hall, Journal of Statistical Planning and Inference 27 (1991),
/// 157-169.
pub fn bootstrap_mean_exhaustive(
    values: &[f64],
    level: ConfidenceLevel,
) -> Result<BootstrapEstimate, UndefinedReason> {
    check_all_finite(values)?;
    let n = values.len();
    at_least_two(n)?;

    if n > MAX_EXHAUSTIVE_VALUES {
        return Err(UndefinedReason::TooLarge);
    }

    let mut sums = vec![0.0];
    for _ in 0..n {
        sums = sums.iter().flat_map(|sum| values.iter().map(move |value| sum + value)).collect();
    }

    let figures = sums.iter().map(|sum| sum / n as f64).collect();
    let estimate = check_finite(values.iter().sum::<f64>() / n as f64)?;
    summarize_resamples(estimate, figures, 0, acceleration(values), level)
}

/// Returns the acceleration of a mean, from its leave-one-out means: with j these means and m their mean,
/// `sum((m - j)^3) / (6 (sum((m - j)^2))^1.5)`. Source: Efron (1987); B. Efron and R. Tibshirani, An
/// Introduction to the Bootstrap (1993), equation 14.15.
pub fn acceleration(values: &[f64]) -> Result<f64, UndefinedReason> {
    compute_acceleration(&leave_one_out(values)?)
}

/// Returns the means without each value in turn. Source: M. Quenouille, Biometrika 43 (1956), 353-360.
pub fn leave_one_out(values: &[f64]) -> Result<Vec<f64>, UndefinedReason> {
    check_all_finite(values)?;
    at_least_two(values.len())?;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| check_finite(mean - (value - mean) / (n - 1.0))).collect()
}

fn compute_acceleration(without: &[f64]) -> Result<f64, UndefinedReason> {
    let mean = without.iter().sum::<f64>() / without.len() as f64;
    let power = |exponent: i32| without.iter().map(|figure| (mean - figure).powi(exponent)).sum::<f64>();
    let squares = power(2);

    // Rounding may leave a small spread in values that are all equal.
    if squares.sqrt() <= 1e-14 * mean.abs() * without.len() as f64 || squares == 0.0 {
        return Err(UndefinedReason::NoSpread);
    }

    check_finite(power(3) / (6.0 * squares.powf(1.5)))
}

fn at_least_two(n: usize) -> Result<(), UndefinedReason> {
    match n {
        0 => Err(UndefinedReason::NoValues),
        1 => Err(UndefinedReason::OneValue),
        _ => Ok(()),
    }
}

fn summarize_resamples(
    estimate: f64,
    mut figures: Vec<f64>,
    undefined: usize,
    acceleration: Result<f64, UndefinedReason>,
    level: ConfidenceLevel,
) -> Result<BootstrapEstimate, UndefinedReason> {
    figures.sort_by(f64::total_cmp);
    let count = figures.len() as f64;
    let at = |share: f64| quantile(&figures, share).ok_or(UndefinedReason::NoValues);
    let percentile = Interval {
        low: at(level.tail())?,
        high: at(1.0 - level.tail())?,
        level,
        method: IntervalMethod::Percentile,
    };

    let mean = estimate + figures.iter().map(|figure| figure - estimate).sum::<f64>() / count;
    let se =
        check_finite((figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / count).sqrt())?;
    let bca = acceleration.and_then(|acceleration| {
        // Values that are mathematically equal to the estimate may differ from it by rounding.
        let slack = 1e-10 * se;
        let below = figures.partition_point(|&figure| figure < estimate - slack) as f64;
        let upto = figures.partition_point(|&figure| figure <= estimate + slack) as f64;
        let share = f64::midpoint(below, upto) / count;
        if share <= 0.0 || share >= 1.0 {
            return Err(UndefinedReason::NoSpread);
        }

        let bias = normal_upper_quantile(1.0 - share);
        let moved = |z: f64| {
            let shifted = bias + z;
            normal_upper_tail(-(bias + shifted / (1.0 - acceleration * shifted)))
        };
        let z = normal_upper_quantile(level.tail());
        Ok(Interval { low: at(moved(-z))?, high: at(moved(z))?, level, method: IntervalMethod::Bca })
    });
    Ok(BootstrapEstimate { estimate, resamples: figures.len(), undefined, se, percentile, bca })
}
