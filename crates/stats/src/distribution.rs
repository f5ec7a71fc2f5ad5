//! Quantiles and tails of the distributions used by the methods.

use std::f64::consts::SQRT_2;

use crate::{
    ConfidenceLevel, UndefinedReason,
    special_functions::{beta_quantile, beta_tails, erfc, erfc_inverse},
    undefined::check_finite,
};

/// Returns the normal quantile that bounds a two-sided interval: 1.96 at 95 %.
pub(crate) fn normal_critical_value(level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    check_finite(SQRT_2 * erfc_inverse(level.alpha()))
}

/// Returns the normal quantile whose upper tail is `tail`.
pub(crate) fn normal_upper_quantile(tail: f64) -> f64 {
    SQRT_2 * erfc_inverse(2.0 * tail)
}

/// Returns the probability above z.
pub(crate) fn normal_upper_tail(z: f64) -> f64 {
    erfc(z / SQRT_2) / 2.0
}

/// Returns the probability beyond z on either side.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// Returns the probability above x of chi-squared with one degree of freedom.
pub(crate) fn chi_squared_upper(x: f64) -> f64 {
    erfc((x / 2.0).sqrt())
}

/// [`student_quantile_series`] is exact to the last digits for at least this many degrees of freedom.
const MIN_SERIES_FREEDOM: f64 = 1_000.0;

/// Returns the quantile of Student's t that bounds a two-sided interval; freedom > 0.
pub(crate) fn student_critical_value(freedom: f64, level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    if freedom.is_nan() || freedom <= 0.0 {
        return Err(UndefinedReason::TooFew);
    }
    if freedom > MIN_SERIES_FREEDOM {
        return check_finite(student_quantile_series(normal_critical_value(level)?, freedom));
    }

    // t^2 / (t^2 + freedom) has a beta distribution; the share closer to 0 is solved for.
    let share = beta_quantile(level.get(), 0.5, freedom / 2.0);
    let odds = if share < 0.5 {
        share / (1.0 - share)
    } else {
        let rest = beta_quantile(level.alpha(), freedom / 2.0, 0.5);
        (1.0 - rest) / rest
    };
    check_finite((freedom * odds).sqrt())
}

/// Computes the quantile of Student's t from the normal quantile `z`, as a series in 1 / degrees of freedom.
/// Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 26.7.5.
fn student_quantile_series(z: f64, freedom: f64) -> f64 {
    let square = z * z;
    // The polynomials of the series, each divided by z, in powers of z squared.
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let fourth =
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92_160.0;
    let share = 1.0 / freedom;

    z * (1.0 + share * (first + share * (second + share * (third + share * fourth))))
}

/// Returns the probability beyond t on either side of Student's distribution; freedom > 0.
pub(crate) fn student_two_sided(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }

    let all = freedom + square;
    beta_tails(freedom / 2.0, 0.5, freedom / all, square / all).0
}

/// Shift beyond which the noncentral t is above any bound of interest.
const MAX_NONCENTRALITY: f64 = 37.0;

/// `P(T <= t)` of Student's t shifted by `shift` of either sign, for t >= 0. Source: R. Lenth, algorithm
/// AS 243, Applied Statistics 38 (1989), 185-189.
fn noncentral_student_cdf(t: f64, freedom: f64, shift: f64) -> f64 {
    let base = normal_upper_tail(shift);
    if shift.abs() > MAX_NONCENTRALITY {
        return base;
    }

    let square = t * t;
    let (x, y) = (square / (square + freedom), freedom / (square + freedom));
    let half = shift * shift / 2.0;
    let mut even = (-half).exp() / 2.0;
    let mut odd = shift * (-half).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (mut sum, mut seen) = (0.0, 0.0);
    for index in 0..10_000 {
        let j = f64::from(index);
        sum += even * beta_tails(j + 0.5, freedom / 2.0, x, y).0
            + odd * beta_tails(j + 1.0, freedom / 2.0, x, y).0;
        seen += even;
        even *= half / (j + 1.0);
        odd *= half / (j + 1.5);

        // The weights of the even terms sum to one half.
        if j > half && 0.5 - seen < 1e-13 && even < 1e-16 {
            break;
        }
    }

    (base + sum).clamp(0.0, 1.0)
}

/// Returns the power of a two-sided t test whose statistic is shifted by `shift`.
pub(crate) fn student_power(
    freedom: f64,
    shift: f64,
    level: ConfidenceLevel,
) -> Result<f64, UndefinedReason> {
    let bound = student_critical_value(freedom, level)?;
    // Rejections above and below the bounds; those below are rejections above of the mirrored statistic.
    Ok(2.0 - noncentral_student_cdf(bound, freedom, shift) - noncentral_student_cdf(bound, freedom, -shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(level: f64) -> ConfidenceLevel {
        ConfidenceLevel::new(level).unwrap()
    }

    #[test]
    fn tabulated_quantiles() {
        // Two-sided 95 % and 99.9 % quantiles of t.
        for (freedom, confidence, quantile) in [
            (1.0, 0.95, 12.706_204_736_432_1),
            (5.0, 0.95, 2.570_581_835_636_2),
            (1.0, 0.999, 636.619_248_768_7),
            (30.0, 0.999, 3.645_958_635_0),
            (1_000.0, 0.95, 1.962_339_080_826_41),
        ] {
            let found = student_critical_value(freedom, level(confidence)).unwrap();
            assert!((found / quantile - 1.0).abs() < 1e-10, "{freedom}: {found}");
        }
        assert!((normal_critical_value(ConfidenceLevel::P95).unwrap() - 1.959_963_984_540_054).abs() < 1e-14);
    }

    #[test]
    fn tails_undo_quantiles() {
        for freedom in [0.5, 1.0, 2.0, 7.5, 100.0, 999.0, 1_001.0, 1e6] {
            for confidence in [0.5, 0.9, 0.95, 0.999_9] {
                let t = student_critical_value(freedom, level(confidence)).unwrap();
                let tail = student_two_sided(t, freedom);
                assert!((tail / (1.0 - confidence) - 1.0).abs() < 1e-9, "{freedom} {confidence}: {tail}");
            }
        }
    }

    #[test]
    fn without_a_shift_the_power_is_alpha() {
        for freedom in [2.0, 10.5, 300.0] {
            let power = student_power(freedom, 0.0, ConfidenceLevel::P95).unwrap();
            assert!((power - 0.05).abs() < 1e-12, "{power}");
        }
    }

    #[test]
    fn with_many_degrees_the_power_is_normal() {
        let z = 1.959_963_984_540_054;
        for shift in [0.3, 1.0, 2.8, 5.0] {
            let power = student_power(1e7, shift, ConfidenceLevel::P95).unwrap();
            let normal = normal_upper_tail(z - shift) + normal_upper_tail(z + shift);
            assert!((power - normal).abs() < 1e-6, "{shift}: {power} {normal}");
        }
    }
}
