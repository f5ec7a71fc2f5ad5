//! What "no failure seen" says about the true rate of failures.

use crate::{Level, Undefined};

/// The highest true failure rate that `n` trials without a failure leave possible at a one-sided
/// confidence level, 0 to 1: `1 - (1 - level)^(1/n)`, which is close to `3 / n` at 95 %. It is the
/// exact upper bound for zero failures. Source: C. J. Clopper and E. S. Pearson, Biometrika 26
/// (1934), 404-413.
pub fn no_failure_bound(n: u64, level: Level) -> Result<f64, Undefined> {
    if n == 0 {
        return Err(Undefined::NoValues);
    }
    // The plain form would lose its digits for large n, where the power is close to 1.
    Ok(-((1.0 - level.get()).ln() / n as f64).exp_m1())
}
