//! Lower confidence bound of the mean of a few scores.

use crate::{ConfidenceLevel, UndefinedReason, bounded_mean};

/// Returns the lower end of the interval of the mean of scores from 0 to 1, as [`bounded_mean`] computes it. Undefined
/// for fewer than two scores.
pub fn mean_lower_bound(scores: &[f64], level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    Ok(bounded_mean(scores, (0.0, 1.0), level)?.interval?.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_scores_have_wilsons_lower_end_on_their_effective_number() {
        // Mean 0.8 and standard deviation 0.2 carry as much information as 0.8 * 0.2 / (0.04 / 3) = 12 values
        // at the ends; t with 2 degrees of freedom is 4.302653.
        let (n, t): (f64, f64) = (12.0, 4.302_653);
        let expected = (0.8 * n + t * t / 2.0 - t * (n * 0.16 + t * t / 4.0).sqrt()) / (n + t * t);
        let low = mean_lower_bound(&[0.6, 0.8, 1.0], ConfidenceLevel::P95).unwrap();
        assert!((low - expected).abs() < 1e-6, "{low}");
        assert_eq!(mean_lower_bound(&[0.5], ConfidenceLevel::P95), Err(UndefinedReason::OneValue));
        assert_eq!(mean_lower_bound(&[], ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
    }

    #[test]
    fn passes_alone_do_not_prove_a_pass_rate_of_one() {
        // The lower end of 2 of 2 is given by p^2 = 0.05. Wilson's would be higher.
        let low = mean_lower_bound(&[1.0, 1.0], ConfidenceLevel::P95).unwrap();
        assert!((low - 0.05_f64.sqrt()).abs() < 1e-6, "{low}");
        let equal = mean_lower_bound(&[0.9, 0.9, 0.9], ConfidenceLevel::P95).unwrap();
        assert!(equal > 0.0 && equal < 0.5, "{equal}");
    }
}
