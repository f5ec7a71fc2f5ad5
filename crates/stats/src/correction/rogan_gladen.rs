//! Pass rate of a judge corrected by its known error rates.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason, distribution::normal_critical_value,
    undefined::check_finite,
};

/// Pass rate of a judge and its measured error rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgeRates {
    /// Share of cases that the judge passed, 0 to 1.
    pub pass_rate: f64,
    /// Number of cases it judged.
    pub n: u64,
    /// Share of truly failing cases that it fails, 0 to 1.
    pub specificity: f64,
    /// Number of truly failing cases behind `specificity`.
    pub n_fail: u64,
    /// Share of truly passing cases that it passes, 0 to 1.
    pub sensitivity: f64,
    /// Number of truly passing cases behind `sensitivity`.
    pub n_pass: u64,
}

/// A corrected pass rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoganGladen {
    /// `(p + specificity - 1) / (specificity + sensitivity - 1)`, which may be outside 0 to 1.
    pub raw: f64,
    /// `raw` clipped to 0 to 1.
    pub clipped: f64,
    /// Standard error of `raw` by the delta method.
    pub se: Result<f64, UndefinedReason>,
    /// The estimate from adjusted rates, around which the interval is drawn; not clipped.
    pub adjusted: Result<f64, UndefinedReason>,
    /// Standard error of `adjusted`.
    pub adjusted_se: Result<f64, UndefinedReason>,
    /// The adjusted interval, within 0 to 1. Undefined if all of it is outside, which means that the error
    /// rates do not apply.
    pub interval: Result<Interval, UndefinedReason>,
}

/// Corrects a judge's pass rate. Assumes that the error rates apply to the cases at hand; rates measured on
/// another system often do not. Undefined if sensitivity and specificity sum to 1 or less. Sources: W. Rogan
/// and B. Gladen, American Journal of Epidemiology 107 (1978), 71-76; adjusted interval: J. Lee et al., arXiv
/// 2511.21140, who add z^2 / 2 passes of z^2 cases to p and one success of two to either error rate, and
/// shift by `2 z^2 (theta q1(1-q1)/m1 - (1-theta) q0(1-q0)/m0)`.
pub fn rogan_gladen(rates: JudgeRates, level: ConfidenceLevel) -> Result<RoganGladen, UndefinedReason> {
    let JudgeRates { pass_rate, n, specificity, n_fail, sensitivity, n_pass } = rates;
    if ![pass_rate, specificity, sensitivity].iter().all(|rate| (0.0..=1.0).contains(rate)) {
        return Err(UndefinedReason::OutOfRange);
    }
    // Rates such as 0.4 and 0.6 sum to 1 in mathematics, but to slightly more in floating point.
    if specificity + sensitivity - 1.0 <= 1e-12 {
        return Err(UndefinedReason::UninformativeJudge);
    }

    let theta =
        |pass: f64, fails: f64, passes: f64| check_finite((pass + fails - 1.0) / (fails + passes - 1.0));
    let raw = theta(pass_rate, specificity, sensitivity)?;
    let counted = if n == 0 || n_fail == 0 || n_pass == 0 { Err(UndefinedReason::NoValues) } else { Ok(()) };
    let (n, fails, passes) = (n as f64, n_fail as f64, n_pass as f64);
    let binomial = |rate: f64, count: f64| rate * (1.0 - rate) / count;
    let error = |theta: f64, pass: (f64, f64), fail: (f64, f64), own: (f64, f64)| {
        let variance = binomial(pass.0, pass.1)
            + (1.0 - theta).powi(2) * binomial(fail.0, fail.1)
            + theta * theta * binomial(own.0, own.1);
        check_finite(variance.sqrt() / (fail.0 + own.0 - 1.0))
    };

    let se = counted.and_then(|()| error(raw, (pass_rate, n), (specificity, fails), (sensitivity, passes)));

    let z = normal_critical_value(level)?;
    let square = z * z;
    let pass = ((n * pass_rate + square / 2.0) / (n + square), n + square);
    let fail = ((fails * specificity + 1.0) / (fails + 2.0), fails + 2.0);
    let own = ((passes * sensitivity + 1.0) / (passes + 2.0), passes + 2.0);
    let adjusted = counted.and_then(|()| {
        if fail.0 + own.0 - 1.0 <= 1e-12 {
            return Err(UndefinedReason::UninformativeJudge);
        }
        theta(pass.0, fail.0, own.0)
    });

    let adjusted_se = adjusted.and_then(|theta| error(theta, pass, fail, own));
    let interval = adjusted.and_then(|theta| {
        let moved = theta * binomial(own.0, own.1) - (1.0 - theta) * binomial(fail.0, fail.1);
        let centre = theta + 2.0 * square * moved;
        let interval =
            Interval::symmetric_around(centre, z * adjusted_se?, level, IntervalMethod::LeePlugIn)?;
        // A clipped interval without width would suggest that the rate is certain.
        if interval.low >= 1.0 || interval.high <= 0.0 {
            return Err(UndefinedReason::IncompatibleRates);
        }
        Ok(interval.clip(0.0, 1.0))
    });
    Ok(RoganGladen { raw, clipped: raw.clamp(0.0, 1.0), se, adjusted, adjusted_se, interval })
}
