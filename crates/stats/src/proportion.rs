//! Pass rates.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::{Interval, Level, Method, Undefined};

/// A share of successes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// How many succeeded.
    pub successes: u64,
    /// How many there are.
    pub n: u64,
    /// `successes / n`, 0 to 1.
    pub rate: Result<f64, Undefined>,
    /// Its interval, within 0 to 1.
    pub interval: Result<Interval, Undefined>,
}

/// A pass rate with Wilson's score interval: with p = successes / n and z the normal quantile, the
/// ends are `(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)`. It keeps a width where
/// everything or nothing passed, and stays within 0 to 1. Source: E. B. Wilson, Journal of the
/// American Statistical Association 22 (1927), 209-212.
pub fn proportion(successes: u64, n: u64, level: Level) -> Proportion {
    let rate = if n == 0 {
        Err(Undefined::NoValues)
    } else if successes > n {
        Err(Undefined::MoreSuccessesThanTrials)
    } else {
        Ok(successes as f64 / n as f64)
    };
    let interval = rate.and_then(|_| wilson(successes, n, level));
    Proportion { successes, n, rate, interval }
}

fn wilson(successes: u64, n: u64, level: Level) -> Result<Interval, Undefined> {
    let z = Normal::standard().inverse_cdf(level.upper_tail_start());
    if !z.is_finite() {
        return Err(Undefined::NotFinite);
    }
    let (passed, failed, all) = (successes as f64, (n - successes) as f64, n as f64);
    let square = z * z;
    let centre = passed + square / 2.0;
    let reach = z * (passed * failed / all + square / 4.0).sqrt();
    // At the ends the two terms cancel exactly on paper, but not in floating point.
    let low = if successes == 0 { 0.0 } else { (centre - reach) / (all + square) };
    let high = if successes == n { 1.0 } else { (centre + reach) / (all + square) };
    Ok(Interval { low: low.clamp(0.0, 1.0), high: high.clamp(0.0, 1.0), level, method: Method::Wilson })
}
