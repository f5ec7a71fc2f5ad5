//! Pass rates and their intervals.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::normal_critical_value,
    special_functions::{beta_quantile, beta_tails},
};

/// A share of successes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// Number of successes.
    pub successes: u64,
    /// Number of trials.
    pub n: u64,
    /// `successes / n`, 0 to 1.
    pub rate: Result<f64, UndefinedReason>,
    /// Interval of the rate, within 0 to 1.
    pub interval: Result<Interval, UndefinedReason>,
}

/// Method for the interval of a pass rate. With k successes of n, p = k / n and z the normal quantile:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RateInterval {
    /// `(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)`. Has a positive width even where
    /// everything or nothing passed. Source: E. B. Wilson, Journal of the American Statistical
    /// Association 22 (1927), 209-212.
    Wilson,
    /// Wilson's with half a case added to either side. Source: R. Newcombe, Statistics in Medicine 17
    /// (1998), 857-872, method 4.
    WilsonContinuity,
    /// Wilson's, or the mid-p interval where that reaches further: `P(X > k) + P(X = k) / 2` is the tail at either end.
    /// At 95 % it covers at least 91.2 % at any rate with 2 to 40 trials, and 92.2 % from 7 on, where Wilson's alone falls to 82 % near 0 and 1, for 9 % more
    /// width at ten trials and 1 % at a hundred: the default. Beyond a million trials it is Wilson's. Source of mid-p: H. Lancaster, Journal of the American Statistical
    /// Association 56 (1961), 223-234; as an interval: A. Agresti and A. Gottard, Statistics in Medicine 26 (2007), 2637-2648.
    #[default]
    WilsonMidP,
    /// Quantiles of Beta(k, n-k+1) and Beta(k+1, n-k): its coverage is at least the nominal level, so it is
    /// used for gates. Source: C. Clopper and E. Pearson, Biometrika 26 (1934), 404-413.
    ClopperPearson,
    /// The Wald interval around `(k + z^2/2) / (n + z^2)`. Source: A. Agresti and B. Coull, The
    /// American Statistician 52 (1998), 119-126.
    AgrestiCoull,
    /// Equal tails of Beta(k + 1/2, n - k + 1/2), not extended to 0 or 1 at the ends. Source: L. Brown,
    /// T. Cai and A. DasGupta, Statistical Science 16 (2001), 101-133.
    Jeffreys,
    /// Equal tails of Beta(k + 1, n - k + 1), the posterior under a uniform prior. Source: T. Bayes,
    /// Philosophical Transactions 53 (1763).
    BetaPosterior,
    /// `p +- z sqrt(p(1-p)/n)`. Has no width where everything or nothing passed; for comparison only. Source:
    /// Brown, Cai and DasGupta (2001), which shows its failures.
    Wald,
}

/// Largest count that the intervals based on the beta distribution accept.
const MAX_BETA_COUNT: u64 = 1 << 30;

/// Computes a pass rate with the interval of [`RateInterval::WilsonMidP`].
pub fn proportion(successes: u64, n: u64, level: ConfidenceLevel) -> Proportion {
    proportion_by(RateInterval::WilsonMidP, successes, n, level)
}

/// Computes a pass rate with the given interval.
pub fn proportion_by(interval: RateInterval, successes: u64, n: u64, level: ConfidenceLevel) -> Proportion {
    let rate = rate(successes, n);
    let interval = rate.and_then(|_| rate_interval(interval, successes, n, level));
    Proportion { successes, n, rate, interval }
}

/// Computes `successes / n`.
pub(crate) fn rate(successes: u64, n: u64) -> Result<f64, UndefinedReason> {
    if n == 0 {
        Err(UndefinedReason::NoValues)
    } else if successes > n {
        Err(UndefinedReason::MoreSuccessesThanTrials)
    } else {
        Ok(successes as f64 / n as f64)
    }
}

fn rate_interval(
    kind: RateInterval,
    successes: u64,
    n: u64,
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    let (passed, failed, all) = (successes as f64, (n - successes) as f64, n as f64);
    let none = successes == 0;
    let every = successes == n;
    let (low, high, method) = match kind {
        RateInterval::Wilson => {
            let z = normal_critical_value(level)?;
            let square = z * z;
            let centre = passed + square / 2.0;
            let reach = z * (passed * failed / all + square / 4.0).sqrt();

            // At the ends the two terms cancel exactly on paper, but not in floating point.
            let low = if none { 0.0 } else { (centre - reach) / (all + square) };
            let high = if every { 1.0 } else { (centre + reach) / (all + square) };
            (low, high, IntervalMethod::Wilson)
        }
        RateInterval::WilsonContinuity => {
            let z = normal_critical_value(level)?;
            let square = z * z;
            let bottom = 2.0 * (all + square);
            let side = |sign: f64| {
                let spread = square - 1.0 / all + 4.0 * passed * failed / all;
                let inside = spread + sign * (2.0 - 4.0 * passed / all);
                (2.0 * passed + square + sign + sign * z * inside.max(0.0).sqrt()) / bottom
            };
            let low = if none { 0.0 } else { side(-1.0) };
            let high = if every { 1.0 } else { side(1.0) };

            (low, high, IntervalMethod::WilsonContinuity)
        }
        RateInterval::WilsonMidP => {
            let wilson = rate_interval(RateInterval::Wilson, successes, n, level)?;
            let tail = level.tail();
            let low = mid_p_end(successes, n, tail, wilson.low);
            let high_failed = mid_p_end(n - successes, n, tail, 1.0 - wilson.high);
            let high = if high_failed == 1.0 - wilson.high { wilson.high } else { 1.0 - high_failed };
            let is_wilson = low == wilson.low && high == wilson.high;
            let method = if is_wilson { IntervalMethod::Wilson } else { IntervalMethod::WilsonMidP };
            (low, high, method)
        }
        RateInterval::ClopperPearson => {
            let tail = beta_tail(n, level)?;
            let low = if none { 0.0 } else { beta_quantile(tail, passed, failed + 1.0) };
            let high = if every { 1.0 } else { 1.0 - beta_quantile(tail, failed, passed + 1.0) };
            (low, high, IntervalMethod::ClopperPearson)
        }
        RateInterval::AgrestiCoull => {
            let z = normal_critical_value(level)?;
            let all = all + z * z;
            let centre = (passed + z * z / 2.0) / all;
            let reach = z * (centre * (1.0 - centre) / all).sqrt();
            (centre - reach, centre + reach, IntervalMethod::AgrestiCoull)
        }
        RateInterval::Jeffreys => {
            let (low, high) = posterior_interval(passed + 0.5, failed + 0.5, beta_tail(n, level)?);
            (low, high, IntervalMethod::Jeffreys)
        }
        RateInterval::BetaPosterior => {
            let (low, high) = posterior_interval(passed + 1.0, failed + 1.0, beta_tail(n, level)?);
            (low, high, IntervalMethod::BetaPosterior)
        }
        RateInterval::Wald => {
            let p = passed / all;
            let reach = normal_critical_value(level)? * (p * (failed / all) / all).sqrt();
            (p - reach, p + reach, IntervalMethod::Wald)
        }
    };

    Ok(Interval { low: low.clamp(0.0, 1.0), high: high.clamp(0.0, 1.0), level, method })
}

/// Count of the rarer outcome from which the ends of Wilson's and the mid-p interval are the same to a thousandth of the
/// width.
const MID_P_MAX_COUNT: u64 = 1_000;

/// Number of trials beyond which the mid-p interval is not computed.
const MID_P_MAX_TRIALS: u64 = 1_000_000;

/// The lower of an end and that of the mid-p interval.
fn mid_p_end(successes: u64, n: u64, tail: f64, end: f64) -> f64 {
    if successes == 0 || n > MID_P_MAX_TRIALS || successes.min(n - successes) > MID_P_MAX_COUNT {
        return end;
    }

    let (passed, failed) = (successes as f64, (n - successes) as f64);
    // P(X >= k) and P(X >= k + 1) of a binomial are tails of beta distributions.
    let mid_p = |p: f64| {
        let from = beta_tails(passed, failed + 1.0, p, 1.0 - p).0;
        let beyond = if failed > 0.0 { beta_tails(passed + 1.0, failed, p, 1.0 - p).0 } else { 0.0 };
        f64::midpoint(from, beyond)
    };
    if mid_p(end) <= tail {
        return end;
    }

    let (mut low, mut high) = (0.0, end);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if mid_p(middle) <= tail { low = middle } else { high = middle }
    }
    low
}

fn beta_tail(n: u64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    if n > MAX_BETA_COUNT { Err(UndefinedReason::TooLarge) } else { Ok(level.tail()) }
}

fn posterior_interval(a: f64, b: f64, tail: f64) -> (f64, f64) {
    (beta_quantile(tail, a, b), 1.0 - beta_quantile(tail, b, a))
}

/// Computes the mean of the posterior under a uniform prior, `(k + 1) / (n + 2)`: Laplace's rule of
/// succession (P. S. Laplace, Essai philosophique sur les probabilites, 1814).
pub fn posterior_mean(successes: u64, n: u64) -> Result<f64, UndefinedReason> {
    rate(successes, n).map(|_| (successes as f64 + 1.0) / (n as f64 + 2.0))
}

/// Upper bounds on the failure rate after n cases without a failure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZeroFailures {
    /// One-sided upper bound, `1 - (1 - level)^(1/n)`: the Clopper-Pearson bound at 0 of n.
    pub exact: f64,
    /// `3 / n`, the rule of thumb at 95 %, at most 1. Source: J. Hanley and A. Lippman-Hand, JAMA 249 (1983),
    /// 1743-1745.
    pub rule_of_three: f64,
}

/// Computes the one-sided upper bound on the failure rate when all n cases passed. `level` is one-sided here.
pub fn zero_failures(n: u64, level: ConfidenceLevel) -> Result<ZeroFailures, UndefinedReason> {
    if n == 0 {
        return Err(UndefinedReason::NoValues);
    }
    let all = n as f64;
    Ok(ZeroFailures { exact: -(level.alpha().ln() / all).exp_m1(), rule_of_three: (3.0 / all).min(1.0) })
}
