//! Which claims are allowed: the only place that compares a p value with a level, and the minimum numbers for a claim.
//! Every command that says "better", "significant" or "prefers" asks here.
//!
//! Design: `docs/design/statistics.md`.

use assize_stats::ConfidenceLevel;
use assize_stats::multiplicity::{PValueAdjustment, adjust_p_values, is_significant};

/// Maximum probability that any of the claims that are made together is wrong, unless the user chose a level.
pub const ALPHA: f64 = 0.05;

/// Minimum number of pairs for a significant result at 5 %: with 5 pairs the smallest p of a two-sided test is 2/32.
/// Smaller groups are not tested, so they do not count among the comparisons either.
pub const MIN_PAIRS: usize = 6;

/// Below this number of labelled items, most intervals are too wide to decide anything, and the output says so.
pub const FEW_ITEMS: u64 = 30;

/// Differences up to this size come from the order of summation and count as zero.
pub const DIFFERENCE_TOLERANCE: f64 = 1e-9;

/// A claim among others that are made together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecidedClaim {
    /// The p value, adjusted by Holm's method for the number of claims.
    pub p_adjusted: f64,
    /// Whether the claim may be made.
    pub is_shown: bool,
}

/// Returns true if a p value, adjusted if several claims are made, shows a claim at a level.
pub fn is_shown(p: f64, alpha: f64) -> bool {
    is_significant(p, alpha)
}

/// The probability of a wrong claim that belongs to a confidence level.
pub fn alpha_of(level: ConfidenceLevel) -> f64 {
    1.0 - level.get()
}

/// Decides claims that are made together, in the order of their p values. The probability that any of the returned
/// claims is wrong is at most `alpha`. A p value that is not a probability supports no claim.
pub fn decide_together(p_values: &[f64], alpha: f64) -> Vec<DecidedClaim> {
    decide_by(PValueAdjustment::Holm, p_values, alpha)
}

/// Decides claims so that, on average, at most a share `alpha` of the accepted ones is wrong, also if the claims depend on each
/// other (Benjamini and Yekutieli). The alternative annotator test decides in this way.
pub fn decide_dependent(p_values: &[f64], alpha: f64) -> Vec<DecidedClaim> {
    decide_by(PValueAdjustment::BenjaminiYekutieli, p_values, alpha)
}

fn decide_by(adjustment: PValueAdjustment, p_values: &[f64], alpha: f64) -> Vec<DecidedClaim> {
    let adjusted = adjust_p_values(p_values, adjustment).unwrap_or_else(|_| vec![1.0; p_values.len()]);
    let decide = |p_adjusted| DecidedClaim { p_adjusted, is_shown: is_shown(p_adjusted, alpha) };
    adjusted.into_iter().map(decide).collect()
}

/// Smallest number of pairs in which the exact test can show a difference at a level: all pairs go one way with
/// probability `2 / 2^n`. Fewer pairs can't show a difference, even if all of them differ.
pub fn least_pairs(level: ConfidenceLevel) -> usize {
    let is_enough = |pairs: &u16| is_shown(0.5_f64.powi(i32::from(*pairs) - 1), alpha_of(level));
    (1..u16::MAX).find(is_enough).map_or(usize::MAX, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_made_together_are_adjusted_and_nonsense_shows_nothing() {
        let shown = |p_values: &[f64]| -> Vec<bool> {
            decide_together(p_values, ALPHA).iter().map(|claim| claim.is_shown).collect()
        };
        assert_eq!(shown(&[0.04]), [true]);
        assert_eq!(shown(&[0.04, 0.03]), [false, false], "0.06 each by Holm");
        assert_eq!(shown(&[0.04, 0.02]), [true, true]);
        assert_eq!(shown(&[0.001, f64::NAN]), [false, false]);
        assert_eq!(shown(&[]), [true; 0]);
    }

    #[test]
    fn the_smallest_group_that_is_tested_is_the_smallest_that_can_show_anything() {
        assert_eq!(least_pairs(ConfidenceLevel::P95), MIN_PAIRS);
    }
}
