//! Interval of an agreement or a correlation if all units agree.

use crate::{ConfidenceLevel, Interval, IntervalMethod, UndefinedReason, rank::mid_ranks};

/// Returns the interval of a chance-corrected coefficient of 1, or of a correlation of 1, over `units` independent
/// units. Resampling, and formulas based on the spread, give an interval without width here, because nothing differs.
///
/// The ratings are modelled as a mixture: on a share of the units the answers are right for a reason; on the others
/// they are guessed from the frequencies of all answers, and agree with the probability `by_chance`. The coefficient is
/// the first share. Its lower end follows from Clopper and Pearson's exact upper bound on the share of disagreeing
/// units when none was observed, and is at least 0, which means guessing. Sources: M. Aickin, Biometrics 46 (1990),
/// 293-302 (the mixture); C. Clopper and E. Pearson, Biometrika 26 (1934), 404-413.
pub fn perfect_agreement(
    units: usize,
    by_chance: f64,
    level: ConfidenceLevel,
) -> Result<Interval, UndefinedReason> {
    match units {
        0 => return Err(UndefinedReason::NoValues),
        1 => return Err(UndefinedReason::OneValue),
        _ => {}
    }
    if !(0.0..=1.0).contains(&by_chance) {
        return Err(UndefinedReason::OutOfRange);
    }
    if by_chance == 1.0 {
        return Err(UndefinedReason::ChanceIsCertain);
    }

    let disagreeing = -(level.tail().ln() / units as f64).exp_m1();
    let low = (1.0 - disagreeing / (1.0 - by_chance)).max(0.0);
    Ok(Interval { low, high: 1.0, level, method: IntervalMethod::ClopperPearson })
}

/// Returns the probability that two of these answers, drawn at random, are equal: the sum of the squared
/// shares. Answers that differ only by rounding count as equal.
pub fn chance_of_same(answers: &[f64]) -> f64 {
    let n = answers.len().max(1) as f64;
    mid_ranks(answers).1.into_iter().map(|same| (same as f64 / n).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_agreement_is_not_certainty() {
        let low = |units, by_chance| perfect_agreement(units, by_chance, ConfidenceLevel::P95).unwrap().low;
        // 1 - (1 - 0.025^(1/200)), and twice as far from 1 if half of all guesses agree.
        assert!((low(200, 0.0) - 0.025_f64.powf(1.0 / 200.0)).abs() < 1e-12);
        assert!((1.0 - low(200, 0.5) - 2.0 * (1.0 - low(200, 0.0))).abs() < 1e-12);
        assert!(low(10, 0.1) < low(20, 0.1) && low(10, 0.1) > 0.6);
        // Two lucky pairs are compatible with guessing.
        assert!(low(2, 0.5) == 0.0);

        let none = |units, by_chance| perfect_agreement(units, by_chance, ConfidenceLevel::P95).unwrap_err();
        assert_eq!(none(0, 0.0), UndefinedReason::NoValues);
        assert_eq!(none(1, 0.0), UndefinedReason::OneValue);
        assert_eq!(none(9, 1.0), UndefinedReason::ChanceIsCertain);
        assert_eq!(none(9, f64::NAN), UndefinedReason::OutOfRange);
    }

    #[test]
    fn the_chance_of_the_same_answer_is_the_sum_of_squared_shares() {
        assert!((chance_of_same(&[1.0, 1.0 + 1e-15, 2.0, 3.0]) - 0.375).abs() < 1e-15);
    }
}
