//! Least-squares line through points.

use crate::{
    Accumulator, Interval, Level, Method, Undefined,
    distribution::student_reach,
    undefined::{all_finite, finite},
};

/// Fitted line of y on x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Change of y for each unit of x.
    pub slope: f64,
    /// Value of y at x = 0.
    pub intercept: f64,
    /// Standard error of the slope, `sqrt(sum e^2 / (n - 2) / sum (x - mx)^2)` for residuals e.
    pub error: Result<f64, Undefined>,
    /// `slope +- t error` with n - 2 degrees of freedom.
    pub interval: Result<Interval, Undefined>,
}

/// Fits the least-squares line, `sum((x - mx)(y - my)) / sum((x - mx)^2)`. Undefined where all x are the
/// same; its error needs three points. Source: N. Draper and H. Smith, "Applied Regression Analysis", third
/// edition, Wiley 1998, sections 1.2 and 1.4.
pub fn slope(x: &[f64], y: &[f64], level: Level) -> Result<Slope, Undefined> {
    if x.len() != y.len() {
        return Err(Undefined::UnequalLengths);
    }
    all_finite(x)?;
    all_finite(y)?;
    let mean = |values: &[f64]| values.iter().copied().collect::<Accumulator>().mean(level).mean;
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    if x.iter().all(|value| *value == x[0]) {
        return Err(if x.len() == 1 { Undefined::OneValue } else { Undefined::NoSpread });
    }
    let spread: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let together: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = finite(together / spread)?;
    let intercept = finite(mean_y - slope * mean_x)?;
    let left: f64 = x.iter().zip(y).map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
    let freedom = x.len() as f64 - 2.0;
    let error = if freedom < 1.0 { Err(Undefined::TooFew) } else { finite((left / freedom / spread).sqrt()) };
    let interval = error.and_then(|error| {
        Interval::around(slope, student_reach(freedom, level)? * error, level, Method::StudentT)
    });
    Ok(Slope { slope, intercept, error, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_four_points_is_the_one_done_by_hand() {
        // Means 2.5 and 3.5, sums of squares and products 5 and 8.
        let found = slope(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 4.0, 6.0], Level::P95).expect("defined");
        assert!((found.slope - 1.6).abs() < 1e-12 && (found.intercept + 0.5).abs() < 1e-12);
        // Residuals -0.1, 0.3, -0.3, 0.1: sum of squares 0.2, so sqrt(0.2 / 2 / 5); t(2) at 97.5 % is 4.302653.
        let error = found.error.expect("defined");
        assert!((error - 0.02_f64.sqrt()).abs() < 1e-12);
        let interval = found.interval.expect("defined");
        assert!((interval.low - (1.6 - 4.302_652_73 * error)).abs() < 1e-6);
    }

    #[test]
    fn lines_that_no_points_settle_are_undefined() {
        let of = |x: &[f64], y: &[f64]| slope(x, y, Level::P95);
        assert_eq!(of(&[], &[]), Err(Undefined::NoValues));
        assert_eq!(of(&[1.0], &[1.0]), Err(Undefined::OneValue));
        assert_eq!(of(&[1.0, 1.0], &[1.0, 2.0]), Err(Undefined::NoSpread));
        assert_eq!(of(&[1.0], &[1.0, 2.0]), Err(Undefined::UnequalLengths));
        assert_eq!(of(&[1.0, f64::NAN], &[1.0, 2.0]), Err(Undefined::NotFinite));
        let two = of(&[1.0, 2.0], &[1.0, 3.0]).expect("a line");
        assert_eq!((two.slope, two.error), (2.0, Err(Undefined::TooFew)));
    }
}
