//! The sign-flip permutation test: the distribution of the mean difference if the two systems were swapped at
//! random on each case.

use rand_core::RngCore;

use crate::{
    UndefinedReason,
    cluster::group_by_cluster,
    undefined::{check_all_finite, check_finite, check_not_empty},
};

/// Largest number of non-zero differences (or clusters) for which every arrangement is counted.
pub const MAX_EXACT_FLIPS: usize = 32;

/// The result of a sign-flip test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    /// Number of differences.
    pub n: usize,
    /// Mean of the differences.
    pub mean: f64,
    /// Share of arrangements whose mean is at least as far from 0.
    pub p: f64,
    /// Share of arrangements whose mean is at least as high.
    pub p_greater: f64,
    /// Number of arrangements: 2 to the number of units flipped (or the largest finite number).
    pub arrangements: f64,
    /// Number of random arrangements, or `None` if all were counted.
    pub drawn: Option<u32>,
}

impl SignFlip {
    /// Returns the smallest two-sided p value possible with this many units, `2 / arrangements`.
    pub fn smallest_p(&self) -> f64 {
        (2.0 / self.arrangements).min(1.0)
    }
}

/// Tolerance, relative to the sum of all magnitudes, within which two sums are equal and differ only by the
/// order of summation.
const SUM_TOLERANCE: f64 = 1e-11;

/// Tests whether the mean of paired differences is 0. All arrangements are counted up to
/// [`MAX_EXACT_FLIPS`] differences other than zero, else `draws` are drawn and p is `(1 + hits) / (1 + draws)`.
/// Sources: R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and G. Smyth,
/// Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.
pub fn sign_flip<R: RngCore + ?Sized>(
    differences: &[f64],
    draws: u32,
    random: &mut R,
) -> Result<SignFlip, UndefinedReason> {
    check_all_finite(differences)?;
    run_sign_flips(differences, differences.len(), draws, random)
}

/// Runs [`sign_flip`] on clustered differences: whole clusters are flipped.
pub fn sign_flip_clustered<K: Ord, R: RngCore + ?Sized>(
    differences: &[f64],
    clusters: &[K],
    draws: u32,
    random: &mut R,
) -> Result<SignFlip, UndefinedReason> {
    check_all_finite(differences)?;
    let sums: Vec<f64> = group_by_cluster(differences, clusters)?
        .iter()
        .map(|members| members.iter().map(|&index| differences[index]).sum())
        .collect();
    run_sign_flips(&sums, differences.len(), draws, random)
}

fn run_sign_flips<R: RngCore + ?Sized>(
    units: &[f64],
    n: usize,
    draws: u32,
    random: &mut R,
) -> Result<SignFlip, UndefinedReason> {
    check_not_empty(units.len())?;

    let observed: f64 = check_finite(units.iter().sum())?;
    let slack = SUM_TOLERANCE * check_finite(units.iter().map(|unit| unit.abs()).sum())?;

    // Flipping a zero changes nothing: zeros double every count and leave the shares unchanged.
    let moving: Vec<f64> = units.iter().map(|unit| unit.abs()).filter(|&unit| unit > 0.0).collect();
    let (p, p_greater, drawn) = if moving.len() <= MAX_EXACT_FLIPS {
        let at_least = |bound: f64| share_at_least(&moving, bound - slack);
        let two_sided = if observed.abs() <= slack { 1.0 } else { (2.0 * at_least(observed.abs())).min(1.0) };
        (two_sided, at_least(observed), None)
    } else {
        let (far, high) = count_random_flips(&moving, observed, slack, draws, random);
        let share = |hits: u32| (1.0 + f64::from(hits)) / (1.0 + f64::from(draws));
        (share(far), share(high), Some(draws))
    };

    let arrangements = (units.len() as f64).exp2().min(f64::MAX);
    Ok(SignFlip { n, mean: observed / n as f64, p, p_greater, arrangements, drawn })
}

/// Returns the share of sign arrangements whose sum is at least `bound`. The sums of two halves are sorted
/// and counted against each other (E. Horowitz and S. Sahni, Journal of the ACM 21, 1974).
fn share_at_least(magnitudes: &[f64], bound: f64) -> f64 {
    let (left, right) = magnitudes.split_at(magnitudes.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    let mut count = 0u64;
    let mut reached = right.len();
    for low in &left {
        while reached > 0 && low + right[reached - 1] >= bound {
            reached -= 1;
        }
        count += (right.len() - reached) as u64;
    }

    count as f64 / (left.len() as f64 * right.len() as f64)
}

/// Returns the sums of the magnitudes for all combinations of signs, ascending.
fn signed_sums(magnitudes: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0];
    for magnitude in magnitudes {
        all = all.iter().flat_map(|sum| [sum - magnitude, sum + magnitude]).collect();
    }

    all.sort_by(f64::total_cmp);
    all
}

fn count_random_flips<R: RngCore + ?Sized>(
    magnitudes: &[f64],
    observed: f64,
    slack: f64,
    draws: u32,
    random: &mut R,
) -> (u32, u32) {
    let (mut far, mut high) = (0, 0);
    for _ in 0..draws {
        let mut sum = 0.0;
        for chunk in magnitudes.chunks(64) {
            let mut bits = random.next_u64();
            for magnitude in chunk {
                sum += if bits & 1 == 0 { *magnitude } else { -magnitude };
                bits >>= 1;
            }
        }

        far += u32::from(sum.abs() >= observed.abs() - slack);
        high += u32::from(sum >= observed - slack);
    }

    (far, high)
}
