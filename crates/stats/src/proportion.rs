//! Pass rates and their intervals.
//!
//! Design: `docs/design/statistics.md`.

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
    /// `(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)`. Has a positive width even if everything
    /// or nothing passed. Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927),
    /// 209-212.
    Wilson,
    /// Wilson's with half a case added to either side. Source: R. Newcombe, Statistics in Medicine 17
    /// (1998), 857-872, method 4.
    WilsonContinuity,
    /// All rates p at which the observed count is not too unlikely: the smaller one of `P(X <= k)`
    /// and `P(X >= k)`, plus as much of the other tail as is no more likely, is at least one minus the level. The
    /// coverage is at least the level for every rate and number of trials, and the interval is within Clopper
    /// and Pearson's. This is the default. Beyond a million trials it is Wilson's. Sources: H. Blaker, The
    /// Canadian Journal of Statistics 28 (2000), 783-798; computed as in J. Klaschka, BlakerCI, Technical
    /// report 1099, Institute of Computer Science, Prague (2010).
    #[default]
    Blaker,
    /// Quantiles of Beta(k, n-k+1) and Beta(k+1, n-k). Each end alone is valid with half of the error, so
    /// this is used for gates, which look at one end. Source: C. Clopper and E. Pearson, Biometrika 26
    /// (1934), 404-413.
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
    /// `p +- z sqrt(p(1-p)/n)`. Has no width if everything or nothing passed; for comparison only. Source:
    /// Brown, Cai and DasGupta (2001), which shows its failures.
    Wald,
}

/// Largest count that the intervals based on the beta distribution accept.
pub(crate) const MAX_BETA_COUNT: u64 = 1 << 30;

/// Computes a pass rate with the interval of [`RateInterval::Blaker`].
pub fn proportion(successes: u64, n: u64, level: ConfidenceLevel) -> Proportion {
    proportion_by(RateInterval::Blaker, successes, n, level)
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

            // At the ends the two terms cancel exactly in mathematics, but not in floating point.
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
        RateInterval::Blaker if n > MAX_BLAKER_TRIALS => {
            return rate_interval(RateInterval::Wilson, successes, n, level);
        }
        RateInterval::Blaker => {
            let low = blaker_end(successes, n, level);
            let high = 1.0 - blaker_end(n - successes, n, level);
            (low, high, IntervalMethod::Blaker)
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

/// Maximum number of trials for Blaker's interval. For more trials, Wilson's agrees with it to a thousandth of the
/// width.
pub(crate) const MAX_BLAKER_TRIALS: u64 = 1_000_000;

/// Number of bisection steps in the search for an end of Blaker's interval.
const HALVINGS: u32 = 50;

/// Returns the lower end of Blaker's interval.
pub(crate) fn blaker_end(successes: u64, n: u64, level: ConfidenceLevel) -> f64 {
    if successes == 0 {
        return 0.0;
    }

    // Binomial tails are tails of beta distributions.
    let (passed, failed) = (successes as f64, (n - successes) as f64);
    let at_least = |p: f64| beta_tails(passed, failed + 1.0, p, 1.0 - p).0;
    let at_most = |few: u64, p: f64| beta_tails((n - few) as f64, few as f64 + 1.0, 1.0 - p, p).0;

    // At Clopper and Pearson's end, the upper tail has half of the error. The other tail gains another count
    // at the rate where that count becomes as likely, and the two tails together then exceed the error: the
    // end is before or at the first such rate.
    let clopper_pearson = beta_quantile(level.tail(), passed, failed + 1.0);
    let (mut gained, mut most) = (0, successes);
    while gained < most {
        let middle = u64::midpoint(gained, most);
        if at_most(middle, clopper_pearson) <= level.tail() { gained = middle + 1 } else { most = middle }
    }
    let is_within = |p: f64| {
        let own = at_least(p);
        let other = gained.checked_sub(1).map_or(0.0, |few| at_most(few, p));
        own + other >= level.alpha() || at_most(gained, p) <= own
    };

    let (mut low, mut high) = (clopper_pearson, passed / n as f64);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_within(middle) { high = middle } else { low = middle }
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
