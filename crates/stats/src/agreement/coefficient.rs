//! Chance-corrected agreement of any number of raters: Fleiss' kappa, Gwet's AC1 and AC2, Krippendorff's
//! alpha with weights, Brennan and Prediger's coefficient.

use super::{AgreementWeights, RatingScale, UnitRatings};
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason, distribution::student_critical_value,
    undefined::check_finite,
};

/// Definition of the agreement expected by chance. With w the weights, q the number of answers on the scale
/// and s_k the share of answer k:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChanceAgreement {
    /// `sum w / (q (q - 1)) * sum s_k (1 - s_k)`: Gwet's AC1 with identity weights, AC2 with others.
    /// Robust against a lopsided share of passes. Source: K. Gwet, British Journal of Mathematical and
    /// Statistical Psychology 61 (2008), 29-48.
    Gwet,
    /// `sum w_kl s_k s_l`: Fleiss' kappa, also where units have unequal numbers of ratings. Source:
    /// J. Fleiss, Psychological Bulletin 76 (1971), 378-382.
    Fleiss,
    /// Fleiss' definition with shares over all ratings of units rated twice, and observed agreement corrected
    /// for small samples: Krippendorff's alpha. Source: K. Krippendorff, Content Analysis (1980).
    Krippendorff,
    /// `sum w / q^2`: every answer equally likely; for equal numbers of ratings this is Randolph's
    /// free-marginal kappa. Source: R. Brennan and D. Prediger, Educational and Psychological
    /// Measurement 41 (1981), 687-699.
    Uniform,
}

/// A chance-corrected coefficient of agreement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgreementCoefficient {
    /// Number of units used: those with a rating, or for alpha with two.
    pub units: usize,
    /// Number of ratings of these units.
    pub ratings: usize,
    /// Mean share of agreeing pairs of ratings, near misses by their weight.
    pub observed: Result<f64, UndefinedReason>,
    /// The agreement expected by chance.
    pub chance: Result<f64, UndefinedReason>,
    /// `(observed - chance) / (1 - chance)`.
    pub value: Result<f64, UndefinedReason>,
    /// Standard error of `value`, over units.
    pub se: Result<f64, UndefinedReason>,
    /// `value +- t se` with units - 1 degrees of freedom, at most 1.
    pub interval: Result<Interval, UndefinedReason>,
}

/// One unit, reduced to the numbers that the coefficients need.
struct UnitAgreement {
    /// Number of ratings.
    size: f64,
    /// Share of agreeing pairs of ratings, 0 with a single rating.
    agreed: f64,
    /// Count of each answer.
    counts: Vec<f64>,
}

/// A chance-corrected coefficient. Weights act on the values of the scale. Errors and the handling of
/// missing ratings: K. Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapters 2, 3 and 5.
pub fn coefficient(
    ratings: &UnitRatings,
    scale: &RatingScale,
    weights: AgreementWeights,
    chance: ChanceAgreement,
    level: ConfidenceLevel,
) -> AgreementCoefficient {
    match reduce_units(ratings, scale, weights, chance) {
        Ok((units, matrix)) => AgreementSums::new(&units, &matrix, chance).coefficient(&units, level),
        Err(reason) => AgreementCoefficient {
            units: 0,
            ratings: 0,
            observed: Err(reason),
            chance: Err(reason),
            value: Err(reason),
            se: Err(reason),
            interval: Err(reason),
        },
    }
}

type WeightMatrix = Vec<Vec<f64>>;

fn reduce_units(
    ratings: &UnitRatings,
    scale: &RatingScale,
    weights: AgreementWeights,
    chance: ChanceAgreement,
) -> Result<(Vec<UnitAgreement>, WeightMatrix), UndefinedReason> {
    if ratings.is_empty() {
        return Err(UndefinedReason::NoValues);
    }

    let matrix = weights.matrix(scale.points());
    let least = if chance == ChanceAgreement::Krippendorff { 2.0 } else { 1.0 };
    let units: Vec<UnitAgreement> = ratings
        .counts(scale)?
        .into_iter()
        .map(|counts| {
            let size: f64 = counts.iter().sum();
            let pairs: f64 = matrix
                .iter()
                .zip(&counts)
                .filter(|&(_, &count)| count > 0.0)
                .map(|(row, count)| {
                    let near: f64 = row.iter().zip(&counts).map(|(weight, other)| weight * other).sum();
                    count * (near - 1.0)
                })
                .sum();
            UnitAgreement {
                size,
                agreed: if size >= 2.0 { pairs / (size * (size - 1.0)) } else { 0.0 },
                counts,
            }
        })
        .filter(|unit| unit.size >= least)
        .collect();
    if units.iter().any(|unit| unit.size >= 2.0) {
        Ok((units, matrix))
    } else {
        Err(UndefinedReason::NoPairs)
    }
}

/// Sums and means over all units.
struct AgreementSums {
    kind: ChanceAgreement,
    /// Mean number of ratings per unit.
    mean_size: f64,
    /// Units with two ratings or more.
    paired: f64,
    /// Observed agreement before the small-sample correction.
    plain: f64,
    observed: f64,
    chance: Result<f64, UndefinedReason>,
    /// Contribution of each answer to the chance agreement of the unit that received it.
    chance_of: Vec<f64>,
}

impl AgreementSums {
    fn new(units: &[UnitAgreement], matrix: &[Vec<f64>], kind: ChanceAgreement) -> Self {
        let answers = matrix.len() as f64;
        let count = units.len() as f64;
        let all: f64 = units.iter().map(|unit| unit.size).sum();
        let mean_size = all / count;
        let paired = units.iter().filter(|unit| unit.size >= 2.0).count() as f64;
        let alpha = kind == ChanceAgreement::Krippendorff;
        let plain = if alpha {
            units.iter().map(|unit| unit.agreed * unit.size / mean_size).sum::<f64>() / count
        } else {
            units.iter().map(|unit| unit.agreed).sum::<f64>() / paired
        };
        let observed = if alpha { (1.0 - 1.0 / all) * plain + 1.0 / all } else { plain };
        let shares: Vec<f64> = (0..matrix.len())
            .map(|answer| {
                let share =
                    |unit: &UnitAgreement| unit.counts[answer] / if alpha { mean_size } else { unit.size };
                units.iter().map(share).sum::<f64>() / count
            })
            .collect();

        let weight: f64 = matrix.iter().flatten().sum();
        let near =
            |answer: usize| matrix[answer].iter().zip(&shares).map(|(weight, share)| weight * share).sum();
        let (chance, chance_of) = match kind {
            ChanceAgreement::Gwet if matrix.len() < 2 => (Err(UndefinedReason::OneClass), Vec::new()),
            ChanceAgreement::Gwet => {
                let scale = weight / (answers * (answers - 1.0));
                let apart: f64 = shares.iter().map(|share| share * (1.0 - share)).sum();
                (Ok(scale * apart), shares.iter().map(|share| scale * (1.0 - share)).collect())
            }
            ChanceAgreement::Uniform => (Ok(weight / (answers * answers)), Vec::new()),
            ChanceAgreement::Fleiss | ChanceAgreement::Krippendorff => {
                let nearness: Vec<f64> = (0..matrix.len()).map(near).collect();
                (Ok(nearness.iter().zip(&shares).map(|(near, share)| near * share).sum()), nearness)
            }
        };

        // Shares that should sum to 1 may miss it by rounding.
        let certain = |chance: f64| {
            if 1.0 - chance < 1e-12 { Err(UndefinedReason::ChanceIsCertain) } else { Ok(chance) }
        };
        Self { kind, mean_size, paired, plain, observed, chance: chance.and_then(certain), chance_of }
    }

    fn coefficient(&self, units: &[UnitAgreement], level: ConfidenceLevel) -> AgreementCoefficient {
        let value = self.chance.and_then(|chance| check_finite((self.observed - chance) / (1.0 - chance)));
        let se = self.chance.and_then(|chance| self.standard_error(units, chance));
        let interval = value.and_then(|value| {
            let reach = se? * student_critical_value(units.len() as f64 - 1.0, level)?;
            let interval = Interval::symmetric_around(value, reach, level, IntervalMethod::StudentT)?;
            Ok(Interval { high: interval.high.min(1.0), ..interval })
        });
        AgreementCoefficient {
            units: units.len(),
            ratings: units.iter().map(|unit| unit.size as usize).sum(),
            observed: check_finite(self.observed),
            chance: self.chance,
            value,
            se,
            interval,
        }
    }

    /// Standard error over units, with the chance agreement linearised. If the units of alpha have different
    /// numbers of ratings, the surplus of a unit is counted at the corrected agreement.
    fn standard_error(&self, units: &[UnitAgreement], chance: f64) -> Result<f64, UndefinedReason> {
        if units.len() < 2 {
            return Err(UndefinedReason::OneValue);
        }

        let count = units.len() as f64;
        let centre = (self.plain - chance) / (1.0 - chance);
        let alpha = self.kind == ChanceAgreement::Krippendorff;
        let squares: f64 = units
            .iter()
            .map(|unit| {
                let surplus = if alpha { (unit.size - self.mean_size) / self.mean_size } else { 0.0 };
                let base = if alpha { self.mean_size } else { unit.size };
                let given: f64 =
                    self.chance_of.iter().zip(&unit.counts).map(|(near, count)| near * count).sum();
                let own = if self.chance_of.is_empty() { chance } else { given / base - chance * surplus };
                let agreed = if alpha {
                    (unit.agreed * unit.size / self.mean_size - self.observed * surplus - chance)
                        / (1.0 - chance)
                } else if unit.size >= 2.0 {
                    count / self.paired * (unit.agreed - chance) / (1.0 - chance)
                } else {
                    0.0
                };

                let linear = agreed - 2.0 * (1.0 - centre) * (own - chance) / (1.0 - chance);
                (linear - centre).powi(2)
            })
            .sum();

        check_finite((squares / (count * (count - 1.0))).sqrt())
    }
}
