//! Lower confidence bound of the mean of a few scores.

use crate::{ConfidenceLevel, UndefinedReason, bounded_mean};

/// Returns the lower end of the interval of the mean of scores from 0 to 1, as [`bounded_mean`] computes it. Undefined
/// for fewer than two scores.
pub fn mean_lower_bound(scores: &[f64], level: ConfidenceLevel) -> Result<f64, UndefinedReason> {
    Ok(bounded_mean(scores, (0.0, 1.0), level)?.interval?.low)
}

/// Returns the smallest number of scores of 1 whose [`mean_lower_bound`] reaches a value, at most `most`; `None` if more
/// are needed.
pub fn ones_for_lower_bound(value: f64, level: ConfidenceLevel, most: usize) -> Option<usize> {
    let reaches = |n: usize| mean_lower_bound(&vec![1.0; n], level).is_ok_and(|low| low >= value);
    if !reaches(most) {
        return None;
    }

    // The bound rises with the number.
    let (mut too_few, mut enough) = (1, most);
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if reaches(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_ones_reach_a_value_as_their_bound_says() {
        let low = |n: usize| mean_lower_bound(&vec![1.0; n], ConfidenceLevel::P95).unwrap();
        for value in [0.3, 0.8, 0.9] {
            let n = ones_for_lower_bound(value, ConfidenceLevel::P95, 1000).unwrap();
            assert!(low(n) >= value && low(n - 1) < value, "{value}: {n}");
        }
        assert_eq!(ones_for_lower_bound(0.8, ConfidenceLevel::P95, 1000), Some(17));
        assert_eq!(
            ones_for_lower_bound(0.0, ConfidenceLevel::P95, 1000),
            Some(2),
            "one score has no interval"
        );
        assert_eq!(ones_for_lower_bound(1.0, ConfidenceLevel::P95, 1000), None);
    }

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
