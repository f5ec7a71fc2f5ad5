//! Estimates of several groups, shrunk towards their mean. The less is known about a group, the more its estimate is
//! shrunk.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::normal_upper_tail,
    undefined::{check_all_finite, check_lengths},
};

/// Minimum number of groups for distinguishing their spread from noise.
const MIN_GROUPS: usize = 4;

/// A group's estimate, shrunk towards the mean of all groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledGroup {
    /// The estimate: `mean + shrinkage (own - mean)`.
    pub estimate: f64,
    /// Weight of the group's own estimate, 0 to 1.
    pub shrinkage: f64,
    /// Interval whose coverage holds on average over groups, for any distribution of their true values.
    pub interval: Interval,
}

/// Partially pooled groups.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialPooling {
    /// Mean of the groups, weighted by their precision.
    pub mean: f64,
    /// Standard deviation of the groups' true values; 0 if they differ no more than their errors explain.
    pub spread: f64,
    /// The groups, in their order.
    pub groups: Vec<PooledGroup>,
}

/// Pools the estimates of groups with known standard errors: their spread t^2 by the method of Paule and Mandel,
/// weights `w = t^2 / (t^2 + se^2)`. Intervals are `estimate +- c w se` with the smallest c that covers on average for
/// any distribution of true values with the second moment `se^2 / t^2` of the normalised bias. The t^2 of an interval
/// is the estimate, or the largest value that this few groups can't rule out, if that is larger. Needs four groups.
/// Sources: B. Efron and C. Morris, Journal of the American Statistical Association 70 (1975), 311-319; R. Paule and J.
/// Mandel, Journal of Research of the National Bureau of Standards 87 (1982), 377-385; C. Morris, Journal of the
/// American Statistical Association 78 (1983), 47-65 (the minimum spread); T. Armstrong, M. Kolesár and M.
/// Plagborg-Møller, Econometrica 90 (2022), 2567-2602 (the intervals).
pub fn partial_pooling(
    estimates: &[f64],
    errors: &[f64],
    level: ConfidenceLevel,
) -> Result<PartialPooling, UndefinedReason> {
    check_all_finite(estimates)?;
    check_all_finite(errors)?;
    check_lengths(estimates.len(), errors.len())?;
    if estimates.len() < MIN_GROUPS {
        return Err(UndefinedReason::TooFew);
    }
    if errors.iter().any(|error| *error <= 0.0) {
        return Err(UndefinedReason::NoSpread);
    }

    let variance = paule_mandel(estimates, errors);
    let mean = weighted_mean(estimates, errors, variance);
    // Estimates may by luck spread less than their errors; that does not show that all groups are alike.
    let groups = estimates.len() as f64;
    let precision = errors.iter().map(|error| 1.0 / (error * error)).sum::<f64>() / groups;
    let used = variance.max(2.0 / (groups - 1.0) / precision);

    let pooled = estimates.iter().zip(errors).map(|(own, error)| {
        let shrinkage = used / (used + error * error);
        let estimate = mean + shrinkage * (own - mean);
        let reach = critical_value(error * error / used, level) * shrinkage * error;
        let interval = Interval {
            low: estimate - reach,
            high: estimate + reach,
            level,
            method: IntervalMethod::EmpiricalBayes,
        };
        PooledGroup { estimate, shrinkage, interval }
    });
    Ok(PartialPooling { mean, spread: variance.sqrt(), groups: pooled.collect() })
}

fn weighted_mean(estimates: &[f64], errors: &[f64], variance: f64) -> f64 {
    let weights = || errors.iter().map(|error| 1.0 / (variance + error * error));
    estimates.iter().zip(weights()).map(|(own, weight)| own * weight).sum::<f64>() / weights().sum::<f64>()
}

/// Returns the variance at which the weighted squares equal their expectation; 0 if they are below it without
/// any variance.
fn paule_mandel(estimates: &[f64], errors: &[f64]) -> f64 {
    let excess = |variance: f64| {
        let mean = weighted_mean(estimates, errors, variance);
        let squares: f64 = estimates
            .iter()
            .zip(errors)
            .map(|(own, error)| (own - mean).powi(2) / (variance + error * error))
            .sum();
        squares - (estimates.len() as f64 - 1.0)
    };
    if excess(0.0) <= 0.0 {
        return 0.0;
    }

    let (mut low, mut high) = (0.0, 1e-6);
    while excess(high) > 0.0 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Probability that a normal variable with a mean of sqrt(t) is beyond c on either side.
fn outside(t: f64, c: f64) -> f64 {
    normal_upper_tail(c - t.sqrt()) + normal_upper_tail(c + t.sqrt())
}

/// Largest probability of being outside c over all distributions of squared biases with the mean m: the least
/// concave function above [`outside`].
fn worst(m: f64, c: f64) -> f64 {
    // The tangent from the value at 0 touches at the t with the steepest chord; beyond it, the function
    // itself is concave.
    if c * c < 3.0 {
        return outside(m, c);
    }
    let chord = |t: f64| (outside(t, c) - outside(0.0, c)) / t;
    let (mut low, mut high) = (c * c - 3.0, 2.0 * c * c + 10.0);
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..40 {
        let (first, second) = (high - ratio * (high - low), low + ratio * (high - low));
        if chord(first) < chord(second) { low = first } else { high = second }
    }
    let touch = f64::midpoint(low, high);
    if m >= touch { outside(m, c) } else { outside(0.0, c) + m * chord(touch) }
}

/// Returns the smallest c whose probability of being outside is within the level.
fn critical_value(m: f64, level: ConfidenceLevel) -> f64 {
    let (mut low, mut high) = (0.0, 2.0);
    while worst(m, high) > level.alpha() {
        low = high;
        high *= 2.0;
    }
    for _ in 0..45 {
        let middle = f64::midpoint(low, high);
        if worst(m, middle) > level.alpha() { low = middle } else { high = middle }
    }
    high
}
