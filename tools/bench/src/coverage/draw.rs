//! Random cases with known truth.

use assize_stats::SeededRandom;
use rand_core::RngCore;

/// Draws a uniform number above 0 and below 1.
pub(super) fn uniform(random: &mut SeededRandom) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

pub(super) fn chance(p: f64, random: &mut SeededRandom) -> bool {
    uniform(random) < p
}

pub(super) fn number(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}

/// Draws from the standard normal distribution (Box and Muller).
pub(super) fn normal(random: &mut SeededRandom) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

pub(super) fn list<T>(n: usize, random: &mut SeededRandom, draw: impl Fn(&mut SeededRandom) -> T) -> Vec<T> {
    (0..n).map(|_| draw(random)).collect()
}

/// Draws from Beta(4, 2), whose mean is 2/3: the fourth of five uniform numbers.
pub(super) fn beta_4_2(random: &mut SeededRandom) -> f64 {
    let mut five = list(5, random, uniform);
    five.sort_by(f64::total_cmp);
    five[3]
}

/// Draws the share of 5 checks that pass.
pub(super) fn checks(p: f64, random: &mut SeededRandom) -> f64 {
    list(5, random, |random| number(chance(p, random))).iter().sum::<f64>() / 5.0
}

/// Draws a score that is 0 except for a share of cases, where its mean is 1/1.4.
pub(super) fn mostly_zero(share: f64, random: &mut SeededRandom) -> f64 {
    if chance(share, random) { uniform(random).powf(0.4) } else { 0.0 }
}

/// Draws n clusters of verdicts whose members correlate: each member has its cluster's verdict with a
/// probability of the root of the correlation, and an independent one otherwise.
pub(super) fn clusters(
    n: usize,
    members: usize,
    correlation: f64,
    random: &mut SeededRandom,
    draw: impl Fn(&mut SeededRandom) -> f64,
) -> (Vec<f64>, Vec<usize>) {
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for cluster in 0..n {
        let common = draw(random);
        for _ in 0..members {
            values.push(if chance(correlation.sqrt(), random) { common } else { draw(random) });
            names.push(cluster);
        }
    }

    (values, names)
}

/// Draws the verdicts of people and of a judge with this sensitivity and specificity.
pub(super) fn judged(
    truth: f64,
    (sensitivity, specificity): (f64, f64),
    random: &mut SeededRandom,
) -> (bool, bool) {
    let people = chance(truth, random);
    (people, if people { chance(sensitivity, random) } else { !chance(specificity, random) })
}
