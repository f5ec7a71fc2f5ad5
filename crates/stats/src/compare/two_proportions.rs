//! Difference of two pass rates measured on different cases.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::normal_critical_value,
    proportion::{RateInterval, proportion_by, rate},
};

/// Method for the interval of the difference of two independent rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DifferenceInterval {
    /// Square-and-add of the two Wilson intervals: has a positive width even when both rates are 0 or 1.
    /// Source: R. Newcombe, Statistics in Medicine 17 (1998), 873-890, method 10.
    #[default]
    Newcombe,
    /// Wald after adding one success and one failure to each side; its centre is the difference of the
    /// adjusted rates. Source: A. Agresti and B. Caffo, The American Statistician 54 (2000), 280-288.
    AgrestiCaffo,
    /// `d +- z sqrt(p1 q1/n1 + p2 q2/n2)`: no width if both rates are 0 or 1; for comparison only. Source:
    /// Newcombe (1998), method 1.
    Wald,
}

/// The difference of two independent pass rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateDifference {
    /// First rate minus second.
    pub difference: f64,
    /// Interval of the difference.
    pub interval: Interval,
}

/// Computes the first rate minus the second for different cases; `(successes, n)` each. If both systems saw
/// the same cases, a paired method is more precise.
pub fn rate_difference(
    kind: DifferenceInterval,
    first: (u64, u64),
    second: (u64, u64),
    level: ConfidenceLevel,
) -> Result<RateDifference, UndefinedReason> {
    let (p1, p2) = (rate(first.0, first.1)?, rate(second.0, second.1)?);
    let difference = p1 - p2;
    let interval = match kind {
        DifferenceInterval::Newcombe => {
            let one = proportion_by(RateInterval::Wilson, first.0, first.1, level).interval?;
            let two = proportion_by(RateInterval::Wilson, second.0, second.1, level).interval?;
            Interval {
                low: difference - (p1 - one.low).hypot(two.high - p2),
                high: difference + (one.high - p1).hypot(p2 - two.low),
                level,
                method: IntervalMethod::Newcombe,
            }
        }
        DifferenceInterval::AgrestiCaffo => {
            let add = |(successes, n): (u64, u64)| (successes as f64 + 1.0, n as f64 + 2.0);
            wald_interval(add(first), add(second), level, IntervalMethod::AgrestiCaffo)?
        }
        DifferenceInterval::Wald => {
            let plain = |(successes, n): (u64, u64)| (successes as f64, n as f64);
            wald_interval(plain(first), plain(second), level, IntervalMethod::Wald)?
        }
    };
    Ok(RateDifference { difference, interval })
}

fn wald_interval(
    first: (f64, f64),
    second: (f64, f64),
    level: ConfidenceLevel,
    method: IntervalMethod,
) -> Result<Interval, UndefinedReason> {
    let (p1, p2) = (first.0 / first.1, second.0 / second.1);
    let variance = p1 * (1.0 - p1) / first.1 + p2 * (1.0 - p2) / second.1;
    Interval::symmetric_around(p1 - p2, normal_critical_value(level)? * variance.sqrt(), level, method)
}
