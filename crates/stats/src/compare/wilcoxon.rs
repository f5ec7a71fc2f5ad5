//! Wilcoxon's signed-rank test.

use crate::{
    UndefinedReason,
    distribution::normal_two_sided,
    rank::mid_ranks,
    undefined::{check_all_finite, check_finite, check_not_empty},
};

/// Treatment of pairs that do not differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZeroRule {
    /// They are dropped before ranking. Source: F. Wilcoxon, Biometrics Bulletin 1 (1945), 80-83.
    Drop,
    /// They are ranked with the others and then dropped. Source: J. Pratt, Journal of the American
    /// Statistical Association 54 (1959), 655-667.
    Pratt,
    /// They are ranked, and each side gets half of their ranks. Source: W. Conover, Journal of the American
    /// Statistical Association 68 (1973), 985-988.
    Split,
}

/// The result of a signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Number of differences that were ranked.
    pub n: usize,
    /// Sum of the ranks of positive differences.
    pub positive: f64,
    /// Sum of the ranks of negative differences.
    pub negative: f64,
    /// The smaller of the two sums.
    pub statistic: f64,
    /// Two-sided p value from the normal distribution, with the variance corrected for ties.
    pub p_normal: Result<f64, UndefinedReason>,
    /// Two-sided p value over all sign arrangements of the ranks, ties included. 1 if no pair differs.
    pub p_exact: Result<f64, UndefinedReason>,
}

/// Largest number of differences for which the exact distribution is computed.
pub const MAX_EXACT_RANKS: usize = 300;

/// Tests whether paired differences are symmetric around 0. `continuity` subtracts half a rank in the normal
/// approximation. Sources: see [`ZeroRule`]; zero and tie corrections of the variance: E. Cureton, Journal of the
/// American Statistical Association 62 (1967), 1068-1069; M. Hollander and D. Wolfe, Nonparametric Statistical Methods,
/// section 3.1.
pub fn signed_rank(
    differences: &[f64],
    zeros: ZeroRule,
    continuity: bool,
) -> Result<SignedRank, UndefinedReason> {
    check_all_finite(differences)?;
    let ranked: Vec<f64> =
        differences.iter().copied().filter(|&value| zeros != ZeroRule::Drop || value != 0.0).collect();

    check_not_empty(differences.len())?;

    let magnitudes: Vec<f64> = ranked.iter().map(|value| value.abs()).collect();
    let (ranks, groups) = mid_ranks(&magnitudes);
    let sum = |keep: fn(f64) -> bool| -> f64 {
        ranks.iter().zip(&ranked).filter(|&(_, &value)| keep(value)).map(|(rank, _)| rank).sum()
    };
    let none = ranked.iter().filter(|&&value| value == 0.0).count();
    let half = if zeros == ZeroRule::Split { sum(|value| value == 0.0) / 2.0 } else { 0.0 };
    let (positive, negative) = (sum(|value| value > 0.0) + half, sum(|value| value < 0.0) + half);

    let cubic = |count: f64| count * (count + 1.0) * (2.0 * count + 1.0);
    let n = ranked.len() as f64;
    let mut mean = n * (n + 1.0) / 4.0;
    let mut variance = cubic(n);
    let mut ties = groups.as_slice();
    if zeros == ZeroRule::Pratt {
        let none = none as f64;
        mean -= none * (none + 1.0) / 4.0;
        variance -= cubic(none);
        // The zeros are the lowest group, and not a tie among the ranks that count.
        ties = if none > 0.0 { ties.get(1..).unwrap_or_default() } else { ties };
    }

    variance -= ties.iter().map(|&size| (size as f64).powi(3) - size as f64).sum::<f64>() / 2.0;
    let variance = variance / 24.0;
    let p_normal = if variance > 0.0 {
        let away = positive - mean;
        let away = if continuity && away != 0.0 { away - away.signum() / 2.0 } else { away };
        check_finite(normal_two_sided(away / variance.sqrt()))
    } else {
        Err(UndefinedReason::NothingDiffers)
    };

    let moving: Vec<f64> =
        ranks.iter().zip(&ranked).filter(|&(_, &value)| value != 0.0).map(|(&rank, _)| rank).collect();
    let p_exact = exact_p_value(&moving, positive.min(negative) - half);
    Ok(SignedRank {
        n: ranked.len(),
        positive,
        negative,
        statistic: positive.min(negative),
        p_normal,
        p_exact,
    })
}

/// Computes `min(1, 2 P(W <= smaller))` if each rank goes to either side with the same probability. The
/// distribution is built up one rank at a time. Ranks are doubled so that mid-ranks are integers.
fn exact_p_value(ranks: &[f64], smaller: f64) -> Result<f64, UndefinedReason> {
    if ranks.len() > MAX_EXACT_RANKS {
        return Err(UndefinedReason::TooLarge);
    }

    let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank).round() as usize).collect();
    let mut shares = vec![0.0; doubled.iter().sum::<usize>() + 1];
    shares[0] = 1.0;

    let mut top = 0;
    for &rank in &doubled {
        top += rank;
        for sum in (0..=top).rev() {
            let moved = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = f64::midpoint(shares[sum], moved);
        }
    }

    let upto = (2.0 * smaller).round() as usize;
    let tail: f64 = shares.iter().take(upto + 1).sum();
    Ok((2.0 * tail).min(1.0))
}
