//! Sample size for a wanted power or precision, and the smallest effect that a sample can detect.

use crate::{
    ConfidenceLevel, ConfidenceLevelError, UndefinedReason,
    bounded_mean::wilson_ends,
    distribution::{
        normal_critical_value, normal_upper_quantile, normal_upper_tail, student_critical_value,
        student_power,
    },
    proportion,
    undefined::check_finite,
};

/// Error rates that a comparison is designed for: its two-sided alpha and its power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerDesign {
    level: ConfidenceLevel,
    power: f64,
}

impl Default for PowerDesign {
    /// Alpha 5 %, power 80 %.
    fn default() -> Self {
        Self { level: ConfidenceLevel::P95, power: 0.8 }
    }
}

/// Variance components of paired scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedNoise {
    /// Variance over cases of the true difference.
    pub between: f64,
    /// Variance of the first system's score within a case.
    pub first: f64,
    /// Number of answers per case of the first system.
    pub first_repeats: u64,
    /// Variance of the second system's score within a case.
    pub second: f64,
    /// Number of answers per case of the second system.
    pub second_repeats: u64,
}

impl PairedNoise {
    /// Returns the variance of the observed difference on one case.
    pub fn variance(self) -> Result<f64, UndefinedReason> {
        if self.first_repeats == 0 || self.second_repeats == 0 {
            return Err(UndefinedReason::NoValues);
        }
        if [self.between, self.first, self.second].iter().any(|part| part.is_nan() || *part < 0.0) {
            return Err(UndefinedReason::OutOfRange);
        }

        check_finite(
            self.between + self.first / self.first_repeats as f64 + self.second / self.second_repeats as f64,
        )
    }
}

/// Rounds a fractional number of cases up.
pub fn round_up_cases(n: f64) -> f64 {
    // A result that is mathematically an integer may be slightly above it.
    (n - 1e-9 * n.abs()).ceil().max(0.0)
}

/// Returns the number of cases needed if cases come in clusters: the number of independent ones times the
/// design effect. Source: L. Kish, Survey Sampling (1965), section 8.2.
pub fn inflate_for_clusters(independent: f64, design_effect: f64) -> Result<f64, UndefinedReason> {
    if design_effect > 0.0 {
        check_finite(independent * design_effect)
    } else {
        Err(UndefinedReason::OutOfRange)
    }
}

/// Returns the design effect of clusters of this size whose cases correlate, `1 + (size - 1) correlation`.
/// Source: Kish (1965), equation 5.4.1.
pub fn design_effect(cluster_size: f64, correlation: f64) -> Result<f64, UndefinedReason> {
    if cluster_size >= 1.0 && (-1.0..=1.0).contains(&correlation) {
        check_finite(1.0 + (cluster_size - 1.0) * correlation)
    } else {
        Err(UndefinedReason::OutOfRange)
    }
}

impl PowerDesign {
    /// Creates a design with a two-sided `alpha` and a `power`, both between 0 and 1, alpha below power.
    pub fn new(alpha: f64, power: f64) -> Result<Self, ConfidenceLevelError> {
        let level = ConfidenceLevel::new(1.0 - alpha)?;
        if power > alpha && power < 1.0 {
            Ok(Self { level, power })
        } else {
            Err(ConfidenceLevelError(power))
        }
    }

    /// The confidence level of the interval that decides.
    pub(crate) const fn level(self) -> ConfidenceLevel {
        self.level
    }

    /// The two-sided error probability of the test.
    pub(crate) fn alpha(self) -> f64 {
        1.0 - self.level.get()
    }

    /// The wanted power.
    pub(crate) const fn power(self) -> f64 {
        self.power
    }

    /// Returns the two normal quantiles: for alpha and for power.
    fn quantiles(self) -> Result<(f64, f64), UndefinedReason> {
        Ok((normal_critical_value(self.level)?, check_finite(normal_upper_quantile(1.0 - self.power))?))
    }

    /// Returns the number of cases for a paired difference of means,
    /// `(z_alpha/2 + z_beta)^2 variance / difference^2`. Source: E. Miller, arXiv 2411.00640, equation 9.
    pub fn paired_cases(self, noise: PairedNoise, difference: f64) -> Result<f64, UndefinedReason> {
        let (alpha, beta) = self.quantiles()?;
        let variance = noise.variance()?;

        if difference == 0.0 {
            return Err(UndefinedReason::Unreachable);
        }

        check_finite((alpha + beta).powi(2) * variance / (difference * difference))
    }

    /// Returns the smallest paired difference of means that n cases detect with this power. Source as for
    /// [`paired_cases`](Self::paired_cases), solved for the difference.
    pub fn paired_difference(self, noise: PairedNoise, n: u64) -> Result<f64, UndefinedReason> {
        let (alpha, beta) = self.quantiles()?;
        if n == 0 {
            return Err(UndefinedReason::NoValues);
        }
        check_finite((alpha + beta) * (noise.variance()? / n as f64).sqrt())
    }

    /// Returns the number of cases per side to detect the difference of two independent rates,
    /// `(z_alpha/2 + z_beta)^2 (p1 q1 + p2 q2) / (p1 - p2)^2`. Source: J. Fleiss, B. Levin and M. Paik,
    /// Statistical Methods for Rates and Proportions (2003), chapter 4.
    pub fn rates_cases(self, first: f64, second: f64) -> Result<f64, UndefinedReason> {
        let (alpha, beta) = self.quantiles()?;
        check_rates(first, second)?;
        let spread = first * (1.0 - first) + second * (1.0 - second);
        check_finite((alpha + beta).powi(2) * spread / (first - second).powi(2))
    }

    /// Computes [`rates_cases`](Self::rates_cases) on the arcsine scale, where the difference is Cohen's
    /// `h = 2 asin sqrt p1 - 2 asin sqrt p2`, counting rejections on either side. Source: J. Cohen,
    /// Statistical Power Analysis for the Behavioral Sciences (1988), chapter 6.
    pub fn rates_cases_by_h(self, first: f64, second: f64) -> Result<f64, UndefinedReason> {
        check_rates(first, second)?;
        let h = 2.0 * (first.sqrt().asin() - second.sqrt().asin()).abs();
        let bound = normal_critical_value(self.level)?;
        solve_for_cases(self.power, 0.0, |n| {
            let shift = h * (n / 2.0).sqrt();
            Ok(normal_upper_tail(bound - shift) + normal_upper_tail(bound + shift))
        })
    }

    /// Returns the number of pairs for a paired t test of an effect in standard deviations of the difference;
    /// at least 2. Source: Cohen (1988), chapter 2, by the noncentral t distribution.
    pub fn paired_t_cases(self, effect: f64) -> Result<f64, UndefinedReason> {
        check_finite(effect)?;
        if effect == 0.0 {
            return Err(UndefinedReason::Unreachable);
        }
        solve_for_cases(self.power, 2.0, |n| student_power(n - 1.0, effect.abs() * n.sqrt(), self.level))
    }

    /// Returns the number of pairs for McNemar's test, where a share `discordant` of the pairs differ and the
    /// pass rates differ by `difference`: `(z_alpha/2 sqrt(s) + z_beta sqrt(s - d^2))^2 / d^2`. Source:
    /// R. Connor, Biometrics 43 (1987), 207-211.
    pub fn mcnemar_pairs(self, discordant: f64, difference: f64) -> Result<f64, UndefinedReason> {
        let apart = difference.abs();
        if !(0.0..=1.0).contains(&discordant) || apart.is_nan() || apart > discordant {
            return Err(UndefinedReason::OutOfRange);
        }
        if apart == 0.0 {
            return Err(UndefinedReason::Unreachable);
        }

        let (alpha, beta) = self.quantiles()?;
        let reach = alpha * discordant.sqrt() + beta * (discordant - apart * apart).sqrt();
        check_finite((reach / apart).powi(2))
    }

    /// Returns the smallest difference that McNemar's test detects with this power in n pairs if all
    /// differing pairs favour the same side: a lower bound if no pair has differed yet. Source: Connor
    /// (1987), with the share of differing pairs equal to the difference.
    pub fn mcnemar_one_way_difference(self, n: u64) -> Result<f64, UndefinedReason> {
        smallest_difference(n, 1.0, |share| self.mcnemar_pairs(share, share))
    }

    /// Returns the smallest difference of pass rates that McNemar's test detects with this power in n pairs if a share
    /// `discordant` of them differ. Source: Connor (1987), solved for the difference.
    pub fn mcnemar_difference(self, n: u64, discordant: f64) -> Result<f64, UndefinedReason> {
        smallest_difference(n, discordant, |difference| self.mcnemar_pairs(discordant, difference))
    }
}

/// Returns the smallest difference, up to `most`, that needs no more than n pairs. `pairs` decreases with the
/// difference.
fn smallest_difference(
    n: u64,
    most: f64,
    pairs: impl Fn(f64) -> Result<f64, UndefinedReason>,
) -> Result<f64, UndefinedReason> {
    if n == 0 {
        return Err(UndefinedReason::NoValues);
    }
    if most == 0.0 || pairs(most)? > n as f64 {
        return Err(UndefinedReason::Undetectable);
    }

    let (mut low, mut high) = (0.0, most);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle > 0.0 && pairs(middle)? <= n as f64 {
            high = middle;
        } else {
            low = middle;
        }
    }

    Ok(high)
}

fn check_rates(first: f64, second: f64) -> Result<(), UndefinedReason> {
    if !(0.0..=1.0).contains(&first) || !(0.0..=1.0).contains(&second) {
        Err(UndefinedReason::OutOfRange)
    } else if first == second {
        Err(UndefinedReason::Unreachable)
    } else {
        Ok(())
    }
}

/// Number of cases beyond which a wanted power counts as unreachable.
const MAX_CASES: f64 = 1e15;

/// Returns the number of cases, at least `least`, at which an increasing power reaches `wanted`.
fn solve_for_cases(
    wanted: f64,
    least: f64,
    power: impl Fn(f64) -> Result<f64, UndefinedReason>,
) -> Result<f64, UndefinedReason> {
    if power(least)? >= wanted {
        return Ok(least);
    }

    let (mut low, mut high) = (least, least.max(1.0) * 2.0);
    while power(high)? < wanted {
        low = high;
        high *= 2.0;
        if high > MAX_CASES {
            return Err(UndefinedReason::Unreachable);
        }
    }

    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }

        if power(middle)? < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }

    Ok(f64::midpoint(low, high))
}

/// Returns the smallest number of cases, at least `least`, with at most the wanted half-width. The half-width decreases
/// with the number of cases, except for small numbers.
pub fn least_cases(
    wanted: f64,
    least: u64,
    half_width: impl Fn(u64) -> Result<f64, UndefinedReason>,
) -> Result<f64, UndefinedReason> {
    if wanted.is_nan() || wanted <= 0.0 {
        return Err(UndefinedReason::OutOfRange);
    }
    if half_width(least)? <= wanted {
        return Ok(least as f64);
    }

    let (mut low, mut high) = (least, least.max(1) * 2);
    while half_width(high)? > wanted {
        low = high;
        high *= 2;
        if high as f64 > MAX_CASES {
            return Err(UndefinedReason::Unreachable);
        }
    }
    bisect_cases(wanted, low, high, half_width)
}

/// Bisects to the smallest sufficient number of cases between one with a too large half-width and one that suffices.
fn bisect_cases(
    wanted: f64,
    mut low: u64,
    mut high: u64,
    half_width: impl Fn(u64) -> Result<f64, UndefinedReason>,
) -> Result<f64, UndefinedReason> {
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if half_width(middle)? > wanted { low = middle } else { high = middle }
    }

    Ok(high as f64)
}

/// From this variance of the number of passes, the width at the expected number is used. The widths of
/// neighbouring numbers then differ by less than a hundredth.
const SMOOTH_VARIANCE: f64 = 10_000.0;

/// Number of passes per standard deviation for which intervals are computed.
const NUMBERS_OF_PASSES: f64 = 4.0;

/// A number of passes is ignored if its probability, relative to the most likely one, is below this.
const NEGLIGIBLE: f64 = 1e-3;

/// Returns the expected half-width of the interval of a pass rate, [`proportion`], over n cases that pass
/// with this probability: its mean over the possible numbers of passes.
pub fn rate_half_width(rate: f64, n: u64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(UndefinedReason::OutOfRange);
    }

    let half_width = |passed: u64| proportion(passed, n, level).interval.map(|found| found.width() / 2.0);
    let expected = rate * n as f64;
    if rate == 0.0 || rate == 1.0 {
        return half_width(expected as u64);
    }
    if expected * (1.0 - rate) >= SMOOTH_VARIANCE {
        let below = expected.floor();
        let (low, high) = (half_width(below as u64)?, half_width((below as u64 + 1).min(n))?);
        return Ok(low + (high - low) * (expected - below));
    }

    // Probabilities relative to the most likely number, computed from their ratios.
    let odds = rate / (1.0 - rate);
    let mode = ((n as f64 + 1.0) * rate).floor().min(n as f64) as u64;
    let above = std::iter::successors(Some((mode, 1.0)), |&(k, p)| {
        (k < n).then(|| (k + 1, p * odds * (n - k) as f64 / (k + 1) as f64))
    });
    let below = std::iter::successors(Some((mode, 1.0)), |&(k, p)| {
        (k > 0).then(|| (k - 1, p / odds * k as f64 / (n - k + 1) as f64))
    });
    let (mut sum, mut all) = (0.0, 0.0);
    let is_likely = |(_, p): &(u64, f64)| *p >= NEGLIGIBLE;
    let step = ((expected * (1.0 - rate)).sqrt() / NUMBERS_OF_PASSES).ceil().max(1.0) as usize;
    let (above, below) =
        (above.take_while(is_likely).step_by(step), below.take_while(is_likely).step_by(step));
    for (passed, probability) in above.chain(below.skip(1)) {
        sum += probability * half_width(passed)?;
        all += probability;
    }

    check_finite(sum / all)
}

/// Returns the smallest number of cases for which the interval of a pass rate has this half-width according
/// to [`rate_half_width`].
pub fn rate_precision(rate: f64, half_width: f64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    rate_cases(rate, half_width, 1, level)
}

/// Returns the least number of cases, from `least` on, whose interval of a pass rate has this half width.
///
/// An expected width takes dozens of exact intervals. So the search begins at the number from Wilson's formula, which
/// differs by a few cases, instead of doubling from `least`.
pub(crate) fn rate_cases(
    rate: f64,
    wanted: f64,
    least: u64,
    level: ConfidenceLevel,
) -> Result<f64, UndefinedReason> {
    let exact = |n| rate_half_width(rate, n, level);
    let critical = normal_critical_value(level)?;
    let approximate = |n: u64| {
        let (low, high) = wilson_ends(rate, n as f64, critical);
        check_finite((high - low) / 2.0)
    };
    if exact(least)? <= wanted {
        return Ok(least as f64);
    }

    let guess = (least_cases(wanted, least, approximate)? as u64).max(least + 1);
    let (mut low, mut high, mut step) = (least, guess, (guess / 64).max(1));
    if exact(guess)? > wanted {
        loop {
            (low, high) = (high, high + step);
            if exact(high)? <= wanted {
                break;
            }
            if high as f64 > MAX_CASES {
                return Err(UndefinedReason::Unreachable);
            }
            step *= 2;
        }
    } else {
        while let Some(lower) = high.checked_sub(step).filter(|lower| *lower > least) {
            if exact(lower)? > wanted {
                low = lower;
                break;
            }
            (high, step) = (lower, step * 2);
        }
    }

    bisect_cases(wanted, low, high, exact)
}

/// Returns the number of cases at which the interval of a mean has this half-width: `(t sd / half_width)^2`,
/// with the quantile of Student's t for one degree of freedom less than there are cases; at least 2. Source:
/// W. Cochran, Sampling Techniques (1977), section 4.6.
pub fn mean_precision(sd: f64, half_width: f64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    if sd.is_nan() || sd < 0.0 || half_width.is_nan() || half_width <= 0.0 {
        return Err(UndefinedReason::OutOfRange);
    }
    check_finite(sd)?;
    // The half-width decreases with n, so its negative increases.
    solve_for_cases(-half_width, 2.0, |n| Ok(-student_critical_value(n - 1.0, level)? * sd / n.sqrt()))
}

/// Returns the half-width of the interval of a mean of n values, `t sd / sqrt(n)`; n is at least 2. Source as
/// for [`mean_precision`], solved for the half-width.
pub fn mean_half_width(sd: f64, n: u64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    if sd.is_nan() || sd < 0.0 {
        return Err(UndefinedReason::OutOfRange);
    }
    if n < 2 {
        return Err(if n == 0 { UndefinedReason::NoValues } else { UndefinedReason::OneValue });
    }

    check_finite(student_critical_value(n as f64 - 1.0, level)? * sd / (n as f64).sqrt())
}

/// Returns half the width of the interval of a mean within 0 to 1, as [`bounded_mean`](crate::bounded_mean)
/// computes it for scores that are not close together (for the scores of a run, see
/// [`PlannedMean`](crate::PlannedMean)): Wilson's on the effective number of values. `units` is the number of
/// independent values, at least 2; `None` if all values are at the ends, for which the normal quantile is
/// used. Source: E. B. Wilson (1927).
pub fn bounded_half_width(
    mean: f64,
    effective_n: f64,
    units: Option<f64>,
    level: ConfidenceLevel,
) -> Result<f64, UndefinedReason> {
    if !(0.0..=1.0).contains(&mean) || effective_n.is_nan() || effective_n <= 0.0 {
        return Err(UndefinedReason::OutOfRange);
    }

    let critical = match units {
        None => normal_critical_value(level)?,
        Some(units) if units < 2.0 => return Err(UndefinedReason::OneValue),
        Some(units) => student_critical_value(units - 1.0, level)?,
    };
    let (low, high) = wilson_ends(mean, effective_n, critical);
    check_finite((high - low) / 2.0)
}
