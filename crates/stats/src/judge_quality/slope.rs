//! Least-squares line through points.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, MeanAccumulator, UndefinedReason,
    distribution::student_critical_value,
    rank::merge_ties,
    undefined::{check_all_finite, check_finite, check_lengths},
};

/// Fitted line of y on x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineFit {
    /// Change of y per unit of x.
    pub slope: f64,
    /// Value of y at x = 0.
    pub intercept: f64,
    /// Standard error of the slope, `sqrt(sum e^2 / (n - 2) / sum (x - mx)^2)` for residuals e.
    pub error: Result<f64, UndefinedReason>,
    /// `slope +- t error` with n - 2 degrees of freedom.
    pub interval: Result<Interval, UndefinedReason>,
}

/// Fits the least-squares line, `sum((x - mx)(y - my)) / sum((x - mx)^2)`. Undefined if all x are equal; its
/// error needs three points. Source: N. Draper and H. Smith, "Applied Regression Analysis", third edition,
/// Wiley 1998, sections 1.2 and 1.4.
pub fn fit_line(x: &[f64], y: &[f64], level: ConfidenceLevel) -> Result<LineFit, UndefinedReason> {
    check_lengths(x.len(), y.len())?;

    check_all_finite(x)?;
    check_all_finite(y)?;

    let x = merge_ties(x);
    let mean = |values: &[f64]| values.iter().copied().collect::<MeanAccumulator>().mean(level).mean;
    let (mean_x, mean_y) = (mean(&x)?, mean(y)?);

    if x.iter().all(|value| *value == x[0]) {
        return Err(if x.len() == 1 { UndefinedReason::OneValue } else { UndefinedReason::NoSpread });
    }

    let spread: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let together: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = check_finite(together / spread)?;
    let intercept = check_finite(mean_y - slope * mean_x)?;
    let left: f64 = x.iter().zip(y).map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
    let freedom = x.len() as f64 - 2.0;
    let error = if freedom < 1.0 {
        Err(UndefinedReason::TooFew)
    } else {
        check_finite((left / freedom / spread).sqrt())
    };
    let interval = error.and_then(|error| {
        Interval::symmetric_around(
            slope,
            student_critical_value(freedom, level)? * error,
            level,
            IntervalMethod::StudentT,
        )
    });

    Ok(LineFit { slope, intercept, error, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_four_points_is_the_one_done_by_hand() {
        // Means 2.5 and 3.5, sums of squares and products 5 and 8.
        let found =
            fit_line(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 4.0, 6.0], ConfidenceLevel::P95).expect("defined");
        assert!((found.slope - 1.6).abs() < 1e-12 && (found.intercept + 0.5).abs() < 1e-12);
        // Residuals -0.1, 0.3, -0.3, 0.1: sum of squares 0.2, so sqrt(0.2 / 2 / 5); t(2) at 97.5 % is 4.302653.
        let error = found.error.expect("defined");
        assert!((error - 0.02_f64.sqrt()).abs() < 1e-12);
        let interval = found.interval.expect("defined");
        assert!((interval.low - (1.6 - 4.302_652_73 * error)).abs() < 1e-6);
    }

    #[test]
    fn lines_that_no_points_settle_are_undefined() {
        let fit = |x: &[f64], y: &[f64]| fit_line(x, y, ConfidenceLevel::P95);
        assert_eq!(fit(&[], &[]), Err(UndefinedReason::NoValues));
        assert_eq!(fit(&[1.0], &[1.0]), Err(UndefinedReason::OneValue));
        assert_eq!(fit(&[1.0, 1.0], &[1.0, 2.0]), Err(UndefinedReason::NoSpread));
        assert_eq!(fit(&[1.0], &[1.0, 2.0]), Err(UndefinedReason::UnequalLengths));
        assert_eq!(fit(&[1.0, f64::NAN], &[1.0, 2.0]), Err(UndefinedReason::NotFinite));
        let two = fit(&[1.0, 2.0], &[1.0, 3.0]).expect("a line");
        assert_eq!((two.slope, two.error), (2.0, Err(UndefinedReason::TooFew)));
    }
}
