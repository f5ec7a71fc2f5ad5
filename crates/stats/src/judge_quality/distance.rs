//! Distance of scores from the truth, in the unit of the scores.

use crate::{
    UndefinedReason,
    undefined::{check_all_finite, check_finite, check_lengths, check_not_empty},
};

fn mean_distance(judge: &[f64], truth: &[f64], distance: fn(f64) -> f64) -> Result<f64, UndefinedReason> {
    check_lengths(judge.len(), truth.len())?;
    check_not_empty(judge.len())?;

    check_all_finite(judge)?;
    check_all_finite(truth)?;

    let sum: f64 = judge.iter().zip(truth).map(|(judge, truth)| distance(judge - truth)).sum();
    check_finite(sum / judge.len() as f64)
}

/// `sqrt(mean (judge - truth)^2)`: large errors have more weight. Source: C. F. Gauss, Theoria combinationis
/// observationum (1823).
pub fn root_mean_square_error(judge: &[f64], truth: &[f64]) -> Result<f64, UndefinedReason> {
    mean_distance(judge, truth, |away| away * away).map(f64::sqrt)
}

/// `mean |judge - truth|`: errors have weight in proportion to their size. Source: C. Willmott and K.
/// Matsuura, Climate Research 30 (2005), 79-82.
pub fn mean_absolute_error(judge: &[f64], truth: &[f64]) -> Result<f64, UndefinedReason> {
    mean_distance(judge, truth, f64::abs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_the_unit_of_the_scores() {
        let (judge, truth) = ([3.0, 4.0, 1.0, 4.0], [3.0, 2.0, 1.0, 2.0]);
        assert_eq!(root_mean_square_error(&judge, &truth), Ok(2.0_f64.sqrt()));
        assert_eq!(mean_absolute_error(&judge, &truth), Ok(1.0));
        assert_eq!(mean_absolute_error(&[], &[]), Err(UndefinedReason::NoValues));
        assert_eq!(mean_absolute_error(&[1.0], &[]), Err(UndefinedReason::UnequalLengths));
        assert_eq!(root_mean_square_error(&[f64::NAN], &[1.0]), Err(UndefinedReason::NotFinite));
    }
}
