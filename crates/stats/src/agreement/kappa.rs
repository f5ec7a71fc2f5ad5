//! Cohen's kappa, plain and weighted.

use super::{AgreementTable, AgreementWeights, RatingScale};
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::{normal_critical_value, normal_two_sided},
    undefined::check_finite,
};

/// Agreement of two raters beyond the agreement expected by chance from their own frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CohenKappa {
    /// Number of units rated by both.
    pub n: u64,
    /// Share of units on which they agree, near misses by their weight.
    pub observed: Result<f64, UndefinedReason>,
    /// Share expected if each rater answered at random with its own frequencies.
    pub expected: Result<f64, UndefinedReason>,
    /// `1 - weighted disagreement / weighted disagreement expected`. Exactly 0 if one rater is constant,
    /// undefined if both are and agree.
    pub kappa: Result<f64, UndefinedReason>,
    /// Large-sample standard error of `kappa`.
    pub se: Result<f64, UndefinedReason>,
    /// Standard error if the true kappa were 0.
    pub se_null: Result<f64, UndefinedReason>,
    /// `kappa / se_null`.
    pub z: Result<f64, UndefinedReason>,
    /// Two-sided p value of `z`.
    pub p: Result<f64, UndefinedReason>,
    /// `kappa +- z se`, not clipped to -1 and 1.
    pub interval: Result<Interval, UndefinedReason>,
}

/// Quadratic-weighted kappa of two raters whose ratings may be between the points of the scale, as means are:
/// 1 minus the mean squared distance of positions, divided by that of all pairs of one rating from each
/// rater. It equals [`kappa`] for ratings on points. Undefined for a rating beyond the ends. Source: J.
/// Fleiss and J. Cohen, Educational and Psychological Measurement 33 (1973), 613-619, where the chance term
/// of squared distances is expressed by means and variances; likewise L. Lin, Biometrics 45 (1989), 255-268.
pub fn quadratic_kappa(first: &[f64], second: &[f64], scale: &RatingScale) -> Result<f64, UndefinedReason> {
    match (first.len(), second.len()) {
        (0, 0) => return Err(UndefinedReason::NoValues),
        (n, other) if n != other => return Err(UndefinedReason::UnequalLengths),
        _ => {}
    }

    let places = |ratings: &[f64]| -> Result<Vec<f64>, UndefinedReason> {
        ratings.iter().map(|rating| scale.place(*rating)).collect()
    };
    let (first, second) = (places(first)?, places(second)?);
    let n = first.len() as f64;
    let mean = |places: &[f64]| places.iter().sum::<f64>() / n;
    let (of_first, of_second) = (mean(&first), mean(&second));
    let spread = |places: &[f64], mean: f64| places.iter().map(|place| (place - mean).powi(2)).sum::<f64>();

    let apart: f64 = first.iter().zip(&second).map(|(a, b)| (a - b).powi(2)).sum();
    let by_chance =
        spread(&first, of_first) + spread(&second, of_second) + n * (of_first - of_second).powi(2);
    // A remainder from rounding of equal ratings is not spread.
    if by_chance <= n * 1e-18 {
        return Err(UndefinedReason::ChanceIsCertain);
    }

    check_finite(1.0 - apart / by_chance)
}

/// Computes Cohen's kappa; weights act on positions on the scale of the table. Sources: J. Cohen, Educational
/// and Psychological Measurement 20 (1960), 37-46 and Psychological Bulletin 70 (1968), 213-220; errors: J.
/// Fleiss, J. Cohen and B. Everitt, Psychological Bulletin 72 (1969), 323-327.
pub fn kappa(table: &AgreementTable, weights: AgreementWeights, level: ConfidenceLevel) -> CohenKappa {
    let positions: Vec<f64> = (0..table.len()).map(|position| position as f64).collect();
    let weights = weights.matrix(&positions);
    let n = table.total() as f64;
    let (rows, columns) = table.margins();
    let (mut apart, mut apart_by_chance) = (0.0, 0.0);
    let (mut agreed, mut agreed_by_chance) = (0.0, 0.0);
    for (i, row) in table.rows().iter().enumerate() {
        for (j, &count) in row.iter().enumerate() {
            let chance = rows[i] * columns[j];
            apart += (1.0 - weights[i][j]) * count as f64;
            apart_by_chance += (1.0 - weights[i][j]) * chance;
            agreed += weights[i][j] * count as f64;
            agreed_by_chance += weights[i][j] * chance;
        }
    }

    let some = |figure: f64| if n == 0.0 { Err(UndefinedReason::NoValues) } else { check_finite(figure) };
    let kappa = if n == 0.0 {
        Err(UndefinedReason::NoValues)
    } else if apart_by_chance == 0.0 {
        Err(UndefinedReason::ChanceIsCertain)
    } else {
        check_finite(1.0 - apart * n / apart_by_chance)
    };

    let expected = some(agreed_by_chance / (n * n));
    // The part of the chance agreement that belongs to each answer of each rater.
    let mean_of = |i: usize| (0..table.len()).map(|j| columns[j] / n * weights[i][j]).sum::<f64>();
    let other_of = |j: usize| (0..table.len()).map(|i| rows[i] / n * weights[i][j]).sum::<f64>();
    let spread = |kappa: f64, chance: f64, null: bool| {
        let (by_row, by_column): (Vec<f64>, Vec<f64>) =
            (0..table.len()).map(|index| (mean_of(index), other_of(index))).unzip();
        let mut sum = 0.0;
        for (i, row) in table.rows().iter().enumerate() {
            for (j, &count) in row.iter().enumerate() {
                let share = if null { rows[i] * columns[j] / (n * n) } else { count as f64 / n };
                sum += share * (weights[i][j] - (by_row[i] + by_column[j]) * (1.0 - kappa)).powi(2);
            }
        }

        let centre = kappa - chance * (1.0 - kappa);
        check_finite(((sum - centre * centre).max(0.0) / n).sqrt() / (1.0 - chance))
    };

    let se = kappa.and_then(|kappa| spread(kappa, expected?, false));
    let se_null = kappa.and_then(|_| spread(0.0, expected?, true));
    let z = kappa.and_then(|kappa| {
        let se = se_null?;
        if se > 0.0 { check_finite(kappa / se) } else { Err(UndefinedReason::NoSpread) }
    });
    let interval = kappa.and_then(|kappa| {
        Interval::symmetric_around(kappa, normal_critical_value(level)? * se?, level, IntervalMethod::Normal)
    });

    CohenKappa {
        n: table.total(),
        observed: some(agreed / n),
        expected,
        kappa,
        se,
        se_null,
        z,
        p: z.map(normal_two_sided),
        interval,
    }
}
