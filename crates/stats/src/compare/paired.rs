//! Mean difference of two systems scored on the same cases.

use crate::{
    ConfidenceLevel, Interval, MeanAccumulator, UndefinedReason,
    distribution::student_two_sided,
    judge_quality::pearson,
    undefined::{check_all_finite, check_finite, check_lengths},
};

/// A paired difference of means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedMean {
    /// Number of pairs.
    pub n: usize,
    /// Mean of first minus second.
    pub difference: f64,
    /// Standard error of the difference, from the spread of the paired differences.
    pub se: Result<f64, UndefinedReason>,
    /// `difference / se`. Undefined if all differences are the same.
    pub t: Result<f64, UndefinedReason>,
    /// Degrees of freedom, n - 1.
    pub freedom: Result<f64, UndefinedReason>,
    /// Two-sided probability of a t at least as far from 0 if there were no difference. 1 if no pair
    /// differs.
    pub p: Result<f64, UndefinedReason>,
    /// The t interval of the difference.
    pub interval: Result<Interval, UndefinedReason>,
    /// Correlation of the two sides; the higher it is, the more pairing reduces the error.
    pub correlation: Result<f64, UndefinedReason>,
    /// Standard error if the two sides had been measured on different cases,
    /// `sqrt(se_first^2 + se_second^2)`.
    pub se_unpaired: Result<f64, UndefinedReason>,
}

/// Computes the paired t test and its interval. Source: Student, Biometrika 6 (1908); for evaluations
/// E. Miller, arXiv 2411.00640, section 4, where `se^2 = se_a^2 + se_b^2 - 2 cov(a, b) / n`. For clustered
/// cases pass the differences to [`clustered_mean`](crate::clustered_mean) instead.
pub fn paired_mean(
    first: &[f64],
    second: &[f64],
    level: ConfidenceLevel,
) -> Result<PairedMean, UndefinedReason> {
    check_lengths(first.len(), second.len())?;

    check_all_finite(first)?;
    check_all_finite(second)?;

    let mean_of = |values: &[f64]| values.iter().copied().collect::<MeanAccumulator>().mean(level);
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    let mean = mean_of(&differences);
    let difference = mean.mean?;
    let freedom = if first.len() < 2 { Err(UndefinedReason::OneValue) } else { Ok(first.len() as f64 - 1.0) };
    let t = mean.se.and_then(|se| {
        if se == 0.0 { Err(UndefinedReason::NoSpread) } else { check_finite(difference / se) }
    });
    let p = match (t, freedom) {
        (Ok(t), Ok(freedom)) => Ok(student_two_sided(t, freedom)),
        (Err(UndefinedReason::NoSpread), _) if difference == 0.0 => Ok(1.0),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
    };

    let se_unpaired = mean_of(first).se.and_then(|a| Ok(a.hypot(mean_of(second).se?)));
    Ok(PairedMean {
        n: first.len(),
        difference,
        se: mean.se,
        t,
        freedom,
        p,
        interval: mean.interval,
        correlation: pearson(first, second),
        se_unpaired,
    })
}
