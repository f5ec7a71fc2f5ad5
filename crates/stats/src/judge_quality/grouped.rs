//! Agreement on the order of answers to the same case, and on the order of systems.

use crate::{
    UndefinedReason,
    undefined::{check_all_finite, check_lengths},
};

/// Differences of scores up to this are ties.
const TIE_TOLERANCE: f64 = 1e-9;

/// Checks that the lists have equal lengths and that every member of a group exists.
fn check_groups(x: &[f64], y: &[f64], groups: &[Vec<usize>]) -> Result<(), UndefinedReason> {
    check_lengths(x.len(), y.len())?;
    if groups.iter().flatten().any(|&at| at >= x.len()) {
        return Err(UndefinedReason::OutOfRange);
    }

    check_all_finite(x)?;
    check_all_finite(y)
}

/// Returns a correlation for each group of values, such as the answers to one case. It is undefined for
/// groups in which a side does not vary; the mean over groups excludes these. Source: Y. Liu et al., G-Eval,
/// arXiv 2303.16634, section 4.1, where groups are documents ("sample level").
pub fn correlations_within(
    x: &[f64],
    y: &[f64],
    groups: &[Vec<usize>],
    figure: impl Fn(&[f64], &[f64]) -> Result<f64, UndefinedReason>,
) -> Result<Vec<Result<f64, UndefinedReason>>, UndefinedReason> {
    check_groups(x, y, groups)?;
    let pick = |values: &[f64], group: &[usize]| -> Vec<f64> { group.iter().map(|&at| values[at]).collect() };

    Ok(groups.iter().map(|group| figure(&pick(x, group), &pick(y, group))).collect())
}

/// Pairwise accuracy with tie calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct PairwiseAccuracy {
    /// Difference of the judge's scores up to which they count as tied: the one with the highest mean
    /// accuracy.
    pub epsilon: f64,
    /// Accuracy of each group that has two values or more, by its position.
    pub groups: Vec<(usize, f64)>,
}

/// A pair of values of a group.
struct ScorePair {
    group: usize,
    distance: f64,
    is_right: bool,
    is_right_as_tie: bool,
}

/// Computes pairwise accuracy: the share of pairs within a group that the judge `x` orders in the same way as
/// people `y`, ties included. A judge with fine-grained scores never ties, so its ties are calibrated: scores
/// that differ by no more than epsilon are tied, with the smallest epsilon that maximises the mean accuracy
/// over groups. Undefined without a group of two. Source: D. Deutsch, G. Foster and M. Freitag, Ties Matter,
/// arXiv 2305.14324, equation 2 and section 5.
pub fn pairwise_accuracy(
    x: &[f64],
    y: &[f64],
    groups: &[Vec<usize>],
) -> Result<PairwiseAccuracy, UndefinedReason> {
    check_groups(x, y, groups)?;
    let mut pairs = Vec::new();
    for (group, members) in groups.iter().enumerate() {
        for (at, &first) in members.iter().enumerate() {
            for &second in &members[at + 1..] {
                let (judge, people) = (x[first] - x[second], y[first] - y[second]);
                let is_tie = people.abs() <= TIE_TOLERANCE;
                pairs.push(ScorePair {
                    group,
                    distance: judge.abs(),
                    is_right: !is_tie && (judge > 0.0) == (people > 0.0),
                    is_right_as_tie: is_tie,
                });
            }
        }
    }

    if pairs.is_empty() {
        return Err(UndefinedReason::TooFew);
    }

    // Every group has the same weight, regardless of its number of pairs.
    let mut sizes = vec![0.0; groups.len()];
    for pair in &pairs {
        sizes[pair.group] += 1.0;
    }

    pairs.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let gain = |tied: &[ScorePair]| -> f64 {
        let accuracy =
            |pair: &ScorePair| f64::from(u8::from(pair.is_right_as_tie)) - f64::from(u8::from(pair.is_right));
        tied.iter().map(|pair| accuracy(pair) / sizes[pair.group]).sum()
    };
    // Equal scores are tied with any epsilon.
    let (equal, mut rest) = pairs.split_at(pairs.partition_point(|pair| pair.distance <= TIE_TOLERANCE));
    let mut gained = gain(equal);
    let (mut epsilon, mut most) = (0.0, gained);
    while let Some(first) = rest.first() {
        let limit = first.distance + TIE_TOLERANCE;
        let (tied, others) = rest.split_at(rest.partition_point(|pair| pair.distance <= limit));
        gained += gain(tied);
        if gained > most + TIE_TOLERANCE {
            (epsilon, most) = (tied[tied.len() - 1].distance, gained);
        }
        rest = others;
    }

    let mut right = vec![0.0; groups.len()];
    for pair in &pairs {
        let is_right =
            if pair.distance <= epsilon + TIE_TOLERANCE { pair.is_right_as_tie } else { pair.is_right };
        right[pair.group] += f64::from(u8::from(is_right));
    }
    let accuracies = sizes.iter().zip(right).enumerate().filter(|(_, (size, _))| **size > 0.0);

    Ok(PairwiseAccuracy {
        epsilon,
        groups: accuracies.map(|(group, (size, right))| (group, right / size)).collect(),
    })
}
