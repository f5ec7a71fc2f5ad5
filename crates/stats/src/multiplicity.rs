//! Adjustment of p values for multiple comparisons.

use crate::{UndefinedReason, rank::sort_order};

/// Method of adjustment. m is the number of p values, sorted ascending from i = 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PValueAdjustment {
    /// `m p`. Controls the family-wise error rate. Source: O. J. Dunn, Journal of the American Statistical
    /// Association 56 (1961), 52-64.
    Bonferroni,
    /// Largest value so far of `(m - i + 1) p`. Controls the family-wise error rate with at least the power
    /// of Bonferroni's; recommended for decisions. Source: S. Holm, Scandinavian Journal of Statistics 6
    /// (1979), 65-70.
    Holm,
    /// Largest value so far of `1 - (1 - p)^(m - i + 1)`, for independent comparisons. Source: Z. Sidak,
    /// Journal of the American Statistical Association 62 (1967), 626-633, stepped down as Holm's.
    HolmSidak,
    /// Smallest value from i onwards of `(m - i + 1) p`, for independent or positively dependent comparisons.
    /// Source: Y. Hochberg, Biometrika 75 (1988), 800-802.
    Hochberg,
    /// Smallest value from i onwards of `m p / i`. Controls the false discovery rate; recommended for
    /// screening. Source: Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57 (1995),
    /// 289-300.
    BenjaminiHochberg,
    /// Benjamini and Hochberg's times `1 + 1/2 + ... + 1/m`, under any dependence. Source: Y. Benjamini and
    /// D. Yekutieli, Annals of Statistics 29 (2001), 1165-1188.
    BenjaminiYekutieli,
}

/// Returns the adjusted p values in the given order; equal ones stay equal. Pass all comparisons that were made.
/// Without p values the result is empty, and a single one is unchanged.
pub fn adjust_p_values(p_values: &[f64], adjustment: PValueAdjustment) -> Result<Vec<f64>, UndefinedReason> {
    if !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return Err(UndefinedReason::OutOfRange);
    }

    let m = p_values.len() as f64;
    let harmonic: f64 = (1..=p_values.len()).map(|i| 1.0 / i as f64).sum();
    let raw = |place: usize, p: f64| {
        let left = m - place as f64;
        match adjustment {
            PValueAdjustment::Bonferroni => m * p,
            PValueAdjustment::Holm | PValueAdjustment::Hochberg => left * p,
            PValueAdjustment::HolmSidak => -(left * (-p).ln_1p()).exp_m1(),
            PValueAdjustment::BenjaminiHochberg => m * p / (place as f64 + 1.0),
            PValueAdjustment::BenjaminiYekutieli => harmonic * m * p / (place as f64 + 1.0),
        }
    };

    let ascending = sort_order(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let steps = ascending.iter().enumerate().map(|(place, &index)| (index, raw(place, p_values[index])));
    match adjustment {
        PValueAdjustment::Bonferroni => {
            for (index, p) in steps {
                adjusted[index] = p.min(1.0);
            }
        }
        PValueAdjustment::Holm | PValueAdjustment::HolmSidak => {
            let mut largest = 0.0f64;
            for (index, p) in steps {
                largest = largest.max(p);
                adjusted[index] = largest.min(1.0);
            }
        }
        PValueAdjustment::Hochberg
        | PValueAdjustment::BenjaminiHochberg
        | PValueAdjustment::BenjaminiYekutieli => {
            let mut smallest = 1.0f64;
            for (index, p) in steps.rev() {
                smallest = smallest.min(p);
                adjusted[index] = smallest;
            }
        }
    }

    Ok(adjusted)
}

/// Returns true if a p value is at most alpha. Values that are mathematically equal count as equal, as in `5
/// * 0.01 <= 0.05`.
pub fn is_significant(p: f64, alpha: f64) -> bool {
    p <= alpha + 1e-12
}
