//! Lower confidence bound of a mean of few scores.

use crate::{ConfidenceLevel, MeanAccumulator, UndefinedReason};

/// Returns the lower end of Student's t interval around the mean of scores from 0 to 1, not below 0.
/// Undefined for fewer than two scores. Scores that are all the same have an interval without width, which is
/// their own value.
pub fn mean_lower_bound(scores: &[f64], level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    let mean = scores.iter().copied().collect::<MeanAccumulator>().mean(level);
    Ok(mean.interval?.clip(0.0, 1.0).low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_scores_have_the_textbook_lower_end() {
        // Mean 0.8, standard deviation 0.1, t of 2 degrees of freedom 4.302653: 0.8 - 4.302653 * 0.1 / sqrt(3).
        let low = mean_lower_bound(&[0.7, 0.8, 0.9], ConfidenceLevel::P95).unwrap();
        assert!((low - 0.551_586).abs() < 1e-5, "{low}");
        assert_eq!(mean_lower_bound(&[0.1, 0.9], ConfidenceLevel::P95), Ok(0.0));
        assert_eq!(mean_lower_bound(&[0.5], ConfidenceLevel::P95), Err(UndefinedReason::OneValue));
        assert_eq!(mean_lower_bound(&[], ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
    }

    #[test]
    fn equal_scores_are_their_own_lower_end() {
        assert_eq!(mean_lower_bound(&[0.9, 0.9, 0.9], ConfidenceLevel::P95), Ok(0.9));
    }
}
