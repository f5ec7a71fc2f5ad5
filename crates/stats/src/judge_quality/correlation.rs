//! Correlation of two lists of scores.

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::normal_critical_value,
    rank::{merge_ties, mid_ranks},
    undefined::{check_all_finite, check_finite, check_lengths},
};

fn check_pairs(x: &[f64], y: &[f64]) -> Result<(), UndefinedReason> {
    check_lengths(x.len(), y.len())?;

    check_all_finite(x)?;
    check_all_finite(y)?;

    match x.len() {
        0 => Err(UndefinedReason::NoValues),
        1 => Err(UndefinedReason::OneValue),
        _ if x.iter().all(|value| *value == x[0]) || y.iter().all(|value| *value == y[0]) => {
            Err(UndefinedReason::NoSpread)
        }
        _ => Ok(()),
    }
}

/// Pearson's correlation, `sum((x - mx)(y - my)) / sqrt(sum((x - mx)^2) sum((y - my)^2))`. Undefined for a
/// constant side. Values within 1e-9 of each other are equal, as for ranks. Source: K. Pearson, Proceedings
/// of the Royal Society 58 (1895), 240-242.
pub fn pearson(x: &[f64], y: &[f64]) -> Result<f64, UndefinedReason> {
    check_pairs(x, y)?;
    let (x, y) = (merge_ties(x), merge_ties(y));
    check_pairs(&x, &y)?;
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (left, right) in x.iter().zip(&y) {
        let (left, right) = (left - mean_x, right - mean_y);
        xx += left * left;
        yy += right * right;
        xy += left * right;
    }

    // The roots are taken separately, so that the product neither overflows nor underflows.
    let bottom = xx.sqrt() * yy.sqrt();
    if bottom == 0.0 {
        Err(UndefinedReason::NoSpread)
    } else {
        Ok(check_finite(xy / bottom)?.clamp(-1.0, 1.0))
    }
}

/// Spearman's correlation: Pearson's of mid-ranks. Values within 1e-9 of each other are tied. Source: C.
/// Spearman, American Journal of Psychology 15 (1904), 72-101.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<f64, UndefinedReason> {
    check_pairs(x, y)?;
    pearson(&mid_ranks(x).0, &mid_ranks(y).0)
}

/// Partial correlation: Pearson's correlation of x and y, controlled for z, `(r_xy - r_xz r_yz) / sqrt((1 -
/// r_xz^2)(1 - r_yz^2))`. Of mid-ranks, it is Spearman's partial correlation. Source: G. U. Yule, Proceedings
/// of the Royal Society A 79 (1907), 182-193.
pub fn partial_correlation(x: &[f64], y: &[f64], z: &[f64]) -> Result<f64, UndefinedReason> {
    let (xy, xz, yz) = (pearson(x, y)?, pearson(x, z)?, pearson(y, z)?);
    let bottom = ((1.0 - xz * xz) * (1.0 - yz * yz)).sqrt();
    if bottom < 1e-12 {
        Err(UndefinedReason::NoSpread)
    } else {
        Ok(((xy - xz * yz) / bottom).clamp(-1.0, 1.0))
    }
}

/// Quantities for Kendall's coefficients.
struct RankConcordance {
    /// Number of concordant pairs minus number of discordant pairs.
    surplus: f64,
    /// Number of pairs not tied in x, and in y.
    untied: (f64, f64),
    /// The smaller number of distinct values.
    levels: f64,
    n: f64,
}

/// Kendall's tau-b, `(C - D) / sqrt((N - T_x)(N - T_y))` with N pairs, T of them tied. Source: M. Kendall,
/// Biometrika 33 (1945), 239-251.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Result<f64, UndefinedReason> {
    let pairs = concordance(x, y)?;
    Ok((pairs.surplus / (pairs.untied.0.sqrt() * pairs.untied.1.sqrt())).clamp(-1.0, 1.0))
}

/// Stuart's tau-c, `2 (C - D) / (n^2 (m - 1) / m)` with m the smaller number of distinct values. Source:
/// A. Stuart, Biometrika 40 (1953), 105-110.
pub fn kendall_tau_c(x: &[f64], y: &[f64]) -> Result<f64, UndefinedReason> {
    let pairs = concordance(x, y)?;
    Ok(2.0 * pairs.surplus / (pairs.n * pairs.n * (pairs.levels - 1.0) / pairs.levels))
}

/// Counts in the time of a sort: the number of discordant pairs is the number of exchanges in sorting y once
/// x is sorted. Source: W. Knight, Journal of the American Statistical Association 61 (1966), 436-439.
fn concordance(x: &[f64], y: &[f64]) -> Result<RankConcordance, UndefinedReason> {
    check_pairs(x, y)?;
    let tied = |groups: &[u64]| groups.iter().map(|&size| pair_count(size)).sum::<f64>();
    let ((rank_x, groups_x), (rank_y, groups_y)) = (mid_ranks(x), mid_ranks(y));
    let mut both: Vec<(f64, f64)> = rank_x.into_iter().zip(rank_y).collect();
    both.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.total_cmp(&right.1)));

    let joint: f64 = both.chunk_by(|left, right| left == right).map(|run| pair_count(run.len() as u64)).sum();
    let mut second: Vec<f64> = both.iter().map(|pair| pair.1).collect();
    let discordant = sort_and_count_inversions(&mut second) as f64;
    let all = pair_count(x.len() as u64);
    if groups_x.len() < 2 || groups_y.len() < 2 {
        return Err(UndefinedReason::NoSpread);
    }

    let (tied_x, tied_y) = (tied(&groups_x), tied(&groups_y));

    Ok(RankConcordance {
        surplus: all - tied_x - tied_y + joint - 2.0 * discordant,
        untied: (all - tied_x, all - tied_y),
        levels: groups_x.len().min(groups_y.len()) as f64,
        n: x.len() as f64,
    })
}

fn pair_count(size: u64) -> f64 {
    size as f64 * (size as f64 - 1.0) / 2.0
}

/// Sorts by merging and counts the pairs that were in strictly descending order.
fn sort_and_count_inversions(values: &mut [f64]) -> u64 {
    let middle = values.len() / 2;
    if middle == 0 {
        return 0;
    }

    let mut count =
        sort_and_count_inversions(&mut values[..middle]) + sort_and_count_inversions(&mut values[middle..]);
    let left = values[..middle].to_vec();
    let (mut from_left, mut from_right) = (0, middle);
    for place in 0..values.len() {
        if from_right < values.len() && (from_left == left.len() || values[from_right] < left[from_left]) {
            values[place] = values[from_right];
            count += (left.len() - from_left) as u64;
            from_right += 1;
        } else if from_left < left.len() {
            values[place] = left[from_left];
            from_left += 1;
        }
    }

    count
}

/// `tanh(atanh(r) +- z / sqrt(n - 3))`: the interval of a Pearson correlation of n pairs. Undefined at
/// -1 and 1. Source: R. A. Fisher, Biometrika 10 (1915), 507-521.
pub fn fisher_z(r: f64, n: u64, level: ConfidenceLevel) -> Result<Interval, UndefinedReason> {
    atanh_interval(r, n, 1.0, level, IntervalMethod::FisherZ)
}

/// `tanh(atanh(r) +- z sqrt((1 + r^2 / 2) / (n - 3)))`: the interval of a Spearman correlation of n pairs.
/// Undefined at -1 and 1. Source: D. Bonett and T. Wright, Psychometrika 65 (2000), 23-28.
pub fn bonett_wright(r: f64, n: u64, level: ConfidenceLevel) -> Result<Interval, UndefinedReason> {
    atanh_interval(r, n, 1.0 + r * r / 2.0, level, IntervalMethod::BonettWright)
}

fn atanh_interval(
    r: f64,
    n: u64,
    spread: f64,
    level: ConfidenceLevel,
    method: IntervalMethod,
) -> Result<Interval, UndefinedReason> {
    if r.is_nan() || r.abs() > 1.0 {
        return Err(UndefinedReason::OutOfRange);
    }
    if n <= 3 {
        return Err(UndefinedReason::TooFew);
    }
    // Sums of equal values in another order may be just below 1.
    if r.abs() > 1.0 - 1e-9 {
        return Err(UndefinedReason::NoSpread);
    }

    let reach = normal_critical_value(level)? * (spread / (n as f64 - 3.0)).sqrt();
    let centre = r.atanh();
    Ok(Interval { low: (centre - reach).tanh(), high: (centre + reach).tanh(), level, method })
}
