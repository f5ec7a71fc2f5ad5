//! A permutation test for repeated measurements of each unit, some of them after a change and the others
//! without it.

use rand_core::RngCore;

use crate::{UndefinedReason, undefined::check_all_finite};

/// Number of hits after which no more arrangements are drawn, because p is known well enough.
const ENOUGH_HITS: u32 = 100;

/// Relative distance below which two statistics are equal and differ only by the order of summation.
pub(super) const SUMMATION_TOLERANCE: f64 = 1e-9;

/// Measurements of one unit, such as the scores of one answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RepeatedUnit {
    /// Measurements after the change.
    pub changed: Vec<f64>,
    /// Measurements without it.
    pub unchanged: Vec<f64>,
}

/// The result of [`exchange_test`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExchangeTest {
    /// Number of units.
    pub units: usize,
    /// Mean over units of the mean after the change minus that without it.
    pub mean: f64,
    /// Share of arrangements that are at least as far from no change, two-sided.
    pub p: f64,
    /// Number of arrangements that were drawn.
    pub drawn: u32,
}

/// Tests whether a change shifts the mean of measurements. If it has no effect, any of the measurements of a unit could
/// have been made after the change. So p is exact for any number of units and repeats, and for rare and coarse noise.
/// The mean difference is studentised, so that a change that only makes measurements noisier is not mistaken for a
/// shift more often, except with few units. Up to `draws` arrangements are drawn; fewer once p is clearly large.
///
/// Sources: A. Janssen, Statistics and Probability Letters 36 (1997), 9-21, and E. Chung and J. Romano,
/// Annals of Statistics 41 (2013), 484-507, for the studentised statistic; J. Besag and P. Clifford,
/// Biometrika 78 (1991), 301-304, for the rule that ends the drawing.
pub fn exchange_test<R: RngCore + ?Sized>(
    units: &[RepeatedUnit],
    draws: u32,
    random: &mut R,
) -> Result<ExchangeTest, UndefinedReason> {
    if units.is_empty() || units.iter().any(|unit| unit.changed.is_empty() || unit.unchanged.is_empty()) {
        return Err(UndefinedReason::NoValues);
    }
    for unit in units {
        check_all_finite(&unit.changed)?;
        check_all_finite(&unit.unchanged)?;
    }

    let mut pools: Vec<(Vec<f64>, usize)> = units
        .iter()
        .map(|unit| ([&unit.changed[..], &unit.unchanged[..]].concat(), unit.changed.len()))
        .collect();
    let mut differences: Vec<f64> = pools.iter().map(|(pool, changed)| difference(pool, *changed)).collect();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let observed = studentised(&differences);

    let (p, drawn) = share_of_draws(draws, || {
        for ((pool, changed), difference_of_unit) in pools.iter_mut().zip(&mut differences) {
            for at in 0..*changed {
                let other = at + index_below(pool.len() - at, random);
                pool.swap(at, other);
            }
            *difference_of_unit = difference(pool, *changed);
        }
        is_as_far(studentised(&differences), observed)
    });
    Ok(ExchangeTest { units: units.len(), mean, p, drawn })
}

/// Draws arrangements, and stops early once enough of them are hits. Returns p and the number of draws.
pub(super) fn share_of_draws(draws: u32, mut is_hit: impl FnMut() -> bool) -> (f64, u32) {
    let (mut hits, mut drawn) = (0, 0);
    while drawn < draws && hits < ENOUGH_HITS {
        drawn += 1;
        hits += u32::from(is_hit());
    }

    let p = if hits >= ENOUGH_HITS {
        f64::from(hits) / f64::from(drawn)
    } else {
        // The observed arrangement counts as one of them.
        f64::from(hits + 1) / f64::from(drawn + 1)
    };
    (p, drawn)
}

/// Mean of the first values minus the mean of the others.
fn difference(pool: &[f64], changed: usize) -> f64 {
    let (first, others) = pool.split_at(changed);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    mean(first) - mean(others)
}

/// Returns true if a mean, in units of its spread, is at least as far from 0 as the observed one. Equal
/// differences have no spread; two such means are compared by their size.
fn is_as_far((studentised, mean): (f64, f64), (observed, observed_mean): (f64, f64)) -> bool {
    if observed.is_infinite() && studentised.is_infinite() {
        mean >= observed_mean * (1.0 - SUMMATION_TOLERANCE)
    } else {
        studentised >= observed * (1.0 - SUMMATION_TOLERANCE)
    }
}

/// Returns the size of the mean in units of its spread, which is infinite for equal differences other than 0,
/// and the size itself.
fn studentised(differences: &[f64]) -> (f64, f64) {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let largest = differences.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if mean.abs() <= SUMMATION_TOLERANCE * largest {
        return (0.0, 0.0);
    }

    let spread = (differences.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let studentised =
        if spread <= SUMMATION_TOLERANCE * largest { f64::INFINITY } else { mean.abs() / spread };
    (studentised, mean.abs())
}

/// Returns a uniform index below `n`, which must be small. Source: D. Lemire, ACM Transactions on Modeling
/// and Computer Simulation 29 (2019), without the rejection step, which would affect less than `n / 2^32` of
/// the draws.
pub(super) fn index_below<R: RngCore + ?Sized>(n: usize, random: &mut R) -> usize {
    ((u64::from(random.next_u32()) * n as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    fn unit(changed: f64, unchanged: &[f64]) -> RepeatedUnit {
        RepeatedUnit { changed: vec![changed], unchanged: unchanged.to_vec() }
    }

    /// p over all arrangements.
    fn enumerated(units: &[RepeatedUnit]) -> f64 {
        let pools: Vec<Vec<f64>> =
            units.iter().map(|unit| [&unit.changed[..], &unit.unchanged[..]].concat()).collect();
        let observed: Vec<f64> = pools.iter().map(|pool| difference(pool, 1)).collect();
        let observed = studentised(&observed);
        let total: usize = pools.iter().map(Vec::len).product();
        let hits = (0..total).filter(|arrangement| {
            let mut rest = *arrangement;
            let differences: Vec<f64> = pools
                .iter()
                .map(|pool| {
                    let mut pool = pool.clone();
                    pool.swap(0, rest % pools[0].len());
                    rest /= pools[0].len();
                    difference(&pool, 1)
                })
                .collect();
            is_as_far(studentised(&differences), observed)
        });
        hits.count() as f64 / total as f64
    }

    #[test]
    fn p_is_the_share_of_arrangements() {
        let units = [
            unit(0.8, &[0.4, 0.6]),
            unit(0.6, &[0.6, 0.4]),
            unit(1.0, &[0.8, 0.8]),
            unit(0.4, &[0.6, 0.2]),
            unit(0.9, &[0.5, 0.7]),
        ];
        let exact = enumerated(&units);
        // Many more hits than the limit, so that the share is as precise as that of many arrangements.
        let found: f64 = (0..40)
            .map(|seed| exchange_test(&units, 20_000, &mut SeededRandom::new(seed)).expect("defined").p)
            .sum::<f64>()
            / 40.0;
        assert!((found - exact).abs() < 0.01, "{found} beside {exact}");
    }

    #[test]
    fn equal_shifts_show_as_much_as_their_signs() {
        let shifted = |n: usize| vec![unit(0.8, &[0.6]); n];
        let p = |units: &[RepeatedUnit]| {
            exchange_test(units, 9_999, &mut SeededRandom::new(1)).expect("defined").p
        };
        assert_eq!(p(&shifted(1)), 1.0);
        assert!((p(&shifted(3)) - 0.25).abs() < 0.06);
        assert!(p(&shifted(12)) < 0.01);
        assert_eq!(p(&[unit(0.6, &[0.6, 0.6]), unit(0.2, &[0.2])]), 1.0);
    }

    #[test]
    fn units_without_a_side_are_undefined() {
        let mut random = SeededRandom::new(1);
        for units in [vec![], vec![unit(0.5, &[])], vec![unit(f64::NAN, &[0.5])]] {
            assert!(exchange_test(&units, 99, &mut random).is_err());
        }
    }
}
