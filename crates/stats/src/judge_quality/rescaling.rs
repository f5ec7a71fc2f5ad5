//! Logistic rescaling of a judge's scores to probabilities.

use crate::{
    UndefinedReason,
    rank::merge_ties,
    undefined::{check_all_finite, check_finite, check_lengths, check_not_empty},
};

/// Logistic curve from a score to the probability of "met".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlattFit {
    /// Slope A of `1 / (1 + exp(A x + B))`; below 0 if higher scores are better.
    pub slope: f64,
    /// Offset B.
    pub offset: f64,
}

/// Maximum number of steps of Newton's method, which converges in about ten.
const MAX_STEPS: usize = 100;
/// The fit has converged when the gradient is below this.
const CONVERGED: f64 = 1e-9;

impl PlattFit {
    /// Fits the curve to scores and labels by maximum likelihood, with labels softened to `(P + 1) / (P + 2)`
    /// and `1 / (N + 2)` for P met and N unmet ones, so that the fit is finite even if scores separate the
    /// classes. Undefined if only one class occurs. Sources: J. Platt, Advances in Large Margin Classifiers
    /// (1999), 61-74; H.-T. Lin, C.-J. Lin and R. Weng, Machine Learning 68 (2007), 267-276.
    pub fn fit(x: &[f64], met: &[bool]) -> Result<Self, UndefinedReason> {
        check_lengths(x.len(), met.len())?;
        check_all_finite(x)?;
        let of_met = met.iter().filter(|met| **met).count() as f64;
        let of_unmet = met.len() as f64 - of_met;
        check_not_empty(met.len())?;
        if of_met == 0.0 || of_unmet == 0.0 {
            return Err(UndefinedReason::OneClass);
        }

        let targets: Vec<f64> = met
            .iter()
            .map(|met| if *met { (of_met + 1.0) / (of_met + 2.0) } else { 1.0 / (of_unmet + 2.0) })
            .collect();
        let mut fit = Self { slope: 0.0, offset: ((of_unmet + 1.0) / (of_met + 1.0)).ln() };
        let mut loss = fit.loss(x, &targets);
        for _ in 0..MAX_STEPS {
            let Some((slope, offset)) = fit.newton_step(x, &targets) else { break };

            let mut size = 1.0;
            loop {
                let next = Self { slope: fit.slope + size * slope, offset: fit.offset + size * offset };
                let lower = next.loss(x, &targets);
                if lower < loss + 1e-12 {
                    (fit, loss) = (next, lower);
                    break;
                }
                size /= 2.0;
                if size < 1e-10 {
                    return fit.checked();
                }
            }
        }

        fit.checked()
    }

    fn checked(self) -> Result<Self, UndefinedReason> {
        Ok(Self { slope: check_finite(self.slope)?, offset: check_finite(self.offset)? })
    }

    /// Returns the probability of "met" for a score.
    pub fn predict(&self, score: f64) -> f64 {
        1.0 / (1.0 + self.slope.mul_add(score, self.offset).exp())
    }

    /// Negative log-likelihood, without overflow.
    fn loss(&self, x: &[f64], targets: &[f64]) -> f64 {
        let one = |(x, target): (&f64, &f64)| {
            let z = self.slope.mul_add(*x, self.offset);
            if z >= 0.0 { target * z + (-z).exp().ln_1p() } else { (target - 1.0) * z + z.exp().ln_1p() }
        };
        x.iter().zip(targets).map(one).sum()
    }

    /// Returns the step of Newton's method; `None` if the gradient is 0.
    fn newton_step(&self, x: &[f64], targets: &[f64]) -> Option<(f64, f64)> {
        // A small amount on the diagonal keeps the matrix invertible if all scores are equal.
        let (mut aa, mut ab, mut bb) = (1e-12, 0.0, 1e-12);
        let (mut a, mut b) = (0.0, 0.0);
        for (x, target) in x.iter().zip(targets) {
            let p = self.predict(*x);
            let (weight, miss) = (p * (1.0 - p), target - p);
            aa += x * x * weight;
            ab += x * weight;
            bb += weight;
            a += x * miss;
            b += miss;
        }

        if a.abs() < CONVERGED && b.abs() < CONVERGED {
            return None;
        }
        let determinant = aa * bb - ab * ab;
        (determinant > 0.0).then(|| (-(bb * a - ab * b) / determinant, -(aa * b - ab * a) / determinant))
    }
}

/// Threshold at or above which a score counts as "met".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdChoice {
    /// The threshold, which is between two observed scores.
    pub threshold: f64,
    /// Mean of sensitivity and specificity at that threshold, on the scores that it was chosen for.
    pub balanced_accuracy: f64,
}

/// Chooses the threshold with the highest mean of sensitivity and specificity; among equal ones, the lowest.
/// Undefined for a single class. Source: W. Youden, Cancer 3 (1950), 32-35.
pub fn choose_threshold(x: &[f64], met: &[bool]) -> Result<ThresholdChoice, UndefinedReason> {
    check_lengths(x.len(), met.len())?;
    check_all_finite(x)?;
    let of_met = met.iter().filter(|met| **met).count() as f64;
    let of_unmet = met.len() as f64 - of_met;
    if of_met == 0.0 || of_unmet == 0.0 {
        return Err(if met.is_empty() { UndefinedReason::NoValues } else { UndefinedReason::OneClass });
    }

    let mut ascending: Vec<(f64, bool)> = merge_ties(x).into_iter().zip(met.iter().copied()).collect();
    ascending.sort_by(|a, b| a.0.total_cmp(&b.0));
    // With the lowest score as the threshold, everything is met.
    let mut best = ThresholdChoice { threshold: ascending[0].0, balanced_accuracy: 0.5 };
    let (mut met_below, mut unmet_below) = (0.0, 0.0);
    for (at, (score, is_met)) in ascending.iter().enumerate() {
        if *is_met {
            met_below += 1.0;
        } else {
            unmet_below += 1.0;
        }
        let Some((next, _)) = ascending.get(at + 1).filter(|(next, _)| next > score) else { continue };
        let balanced_accuracy = f64::midpoint(1.0 - met_below / of_met, unmet_below / of_unmet);
        if balanced_accuracy > best.balanced_accuracy + 1e-12 {
            best = ThresholdChoice { threshold: score.midpoint(*next), balanced_accuracy };
        }
    }

    Ok(best)
}

/// Returns the half-width of a conformal interval: the `ceil(level (n + 1))`-th smallest of n absolute residuals. Each
/// prediction must not be fitted to its own value. A new value is within this distance of its prediction with at least
/// that probability, if it is exchangeable with the others. For residuals from cross-validation, only
/// `1 - 2 (1 - level)` is guaranteed. Undefined with fewer than `level / (1 - level)` residuals. Sources: V. Vovk, A.
/// Gammerman and G. Shafer, Algorithmic Learning in a Random World, Springer 2005; R. Barber et al., Annals of
/// Statistics 49 (2021), 486-507.
pub fn conformal_radius(residuals: &[f64], level: crate::ConfidenceLevel) -> Result<f64, UndefinedReason> {
    check_all_finite(residuals)?;
    let n = residuals.len();
    let rank = (level.get() * (n as f64 + 1.0) - 1e-9).ceil() as usize;
    if n == 0 {
        return Err(UndefinedReason::NoValues);
    }

    let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(rank.max(1) - 1).copied().ok_or(UndefinedReason::TooFew)
}
