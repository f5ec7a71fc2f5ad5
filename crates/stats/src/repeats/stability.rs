//! How often repeated verdicts on the same item differ.

use crate::{ConfidenceLevel, Proportion, UndefinedReason, proportion};

/// Stability of repeated verdicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictStability {
    /// Flip rate with Wilson's interval: the share of items judged twice or more whose verdicts are not all
    /// equal.
    pub flipped: Proportion,
    /// Probability that two verdicts on the same item differ: the mean over items of the share of differing
    /// pairs.
    pub pair_flips: Result<f64, UndefinedReason>,
}

/// Computes the flip rate of repeated verdicts, one list per item; items judged only once are excluded. The
/// share of differing pairs is 1 minus the observed agreement of J. Fleiss, Psychological Bulletin 76 (1971),
/// 378-382.
pub fn stability<T: PartialEq>(items: &[Vec<T>], level: ConfidenceLevel) -> VerdictStability {
    let (mut judged, mut flipped, mut shares) = (0u64, 0u64, 0.0);
    for verdicts in items.iter().filter(|verdicts| verdicts.len() > 1) {
        let pairs = verdicts.len() * (verdicts.len() - 1) / 2;
        let differing: usize =
            (1..verdicts.len()).map(|at| count_differing(&verdicts[at..=at], &verdicts[..at])).sum();

        judged += 1;
        flipped += u64::from(differing > 0);

        shares += differing as f64 / pairs as f64;
    }

    VerdictStability {
        flipped: proportion(flipped, judged, level),
        pair_flips: if judged == 0 { Err(UndefinedReason::NoPairs) } else { Ok(shares / judged as f64) },
    }
}

/// Computes the probability that two raters differ on one item: the mean over pairs of raters of the share of
/// differing pairs of one verdict from each. Raters without a verdict are ignored. Source: the observed
/// disagreement between raters of K. Krippendorff, Content Analysis (2004), chapter 11, for one unit and the
/// nominal metric, with equal weight for each pair of raters.
pub fn disagreement<T: PartialEq>(raters: &[Vec<T>]) -> Result<f64, UndefinedReason> {
    let raters: Vec<&Vec<T>> = raters.iter().filter(|verdicts| !verdicts.is_empty()).collect();
    let (mut pairs, mut shares) = (0u64, 0.0);
    for (at, one) in raters.iter().enumerate() {
        for other in &raters[..at] {
            pairs += 1;
            shares += count_differing(one, other) as f64 / (one.len() * other.len()) as f64;
        }
    }

    if pairs == 0 { Err(UndefinedReason::NoPairs) } else { Ok(shares / pairs as f64) }
}

fn count_differing<T: PartialEq>(some: &[T], others: &[T]) -> usize {
    some.iter().map(|one| others.iter().filter(|other| *other != one).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_any_kind_are_compared() {
        let words =
            stability(&[vec!["met", "met", "unmet"], vec!["met", "met"], vec!["met"]], ConfidenceLevel::P95);
        assert_eq!((words.flipped.successes, words.flipped.n), (1, 2));
        assert_eq!(words.pair_flips, Ok((2.0 / 3.0) / 2.0));
    }

    #[test]
    fn raters_are_compared_pair_by_pair() {
        assert_eq!(disagreement(&[vec![1, 1], vec![1, 2]]), Ok(0.5));
        assert_eq!(disagreement(&[vec![1], vec![2], vec![2]]), Ok(2.0 / 3.0));
        assert_eq!(disagreement(&[vec![1, 2], vec![]]), Err(UndefinedReason::NoPairs));
    }
}
