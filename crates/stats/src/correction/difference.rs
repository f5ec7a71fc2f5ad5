//! Difference of two means, from the decisions of judges and people's labels of both sides.

use std::collections::BTreeMap;

use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    distribution::{student_critical_value, student_two_sided},
    undefined::check_finite,
};

use super::prediction_powered::PSEUDO_LABELS;

/// A judged case of one side, with people's label if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideItem<K> {
    /// Cluster of the case. Both sides use the same names of clusters, so that variation they share cancels out.
    pub cluster: K,
    /// Value that the judge gave.
    pub judge: f64,
    /// Value that people gave, and the probability with which the case was drawn for labelling, above 0 and up to 1. A
    /// factor common to all probabilities of a side changes nothing.
    pub label: Option<(f64, f64)>,
}

/// Difference of two means of people's values, second minus first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoweredDifference {
    /// Estimated mean of each side.
    pub means: [f64; 2],
    /// Number of labels of each side.
    pub labels: [usize; 2],
    /// Weight of the judge on each side, 0 to 1.
    pub weights: [f64; 2],
    /// Second minus first.
    pub difference: f64,
    /// The difference of the labels alone.
    pub people: f64,
    /// Standard error of `difference`.
    pub se: f64,
    /// `difference +- t se`, within the range of differences.
    pub interval: Interval,
    /// Probability of such a difference if there were none.
    pub p: f64,
}

/// Prediction-powered inference for a difference of two means of values between `range.0` and `range.1`: the mean of
/// each side is `y + b (f - g)`, where y and g are the means of people and of the judge over the labelled cases, f is the
/// judge's over all cases, and labels count with the reciprocal of their probability.
///
/// Its error is the error of a sum over clusters: the contributions of a cluster's cases to both means. So the sides
/// may have the same cases and labels, some in common, or none. The weights b minimise it and are then multiplied by
/// `n / (n + 8)` for n labels, as in [`prediction_powered_within`](super::prediction_powered_within). The variance of
/// one more label on each side that contradicts the others is added, because otherwise a few labels that nearly all
/// agree look certain. The degrees of freedom of t are one less than the number of labelled clusters on the side that
/// has fewer.
///
/// Sources: P. Boyeau et al., "AutoEval Done Right", arXiv 2403.07008; A. Angelopoulos, J. Duchi and T. Zrnic, "PPI++",
/// arXiv 2311.01453; T. Zrnic and E. Candès, "Active Statistical Inference", arXiv 2403.03208 (the reciprocals). The
/// additional label is from D. Bonett and R. Price, Journal of Educational and Behavioral Statistics 37 (2012),
/// 479-488, halved by simulation.
///
/// # Errors
/// If a side has no labels, labels of fewer than two clusters, or values outside of the range.
pub fn prediction_powered_difference<K: Ord>(
    sides: [&[SideItem<K>]; 2],
    range: (f64, f64),
    level: ConfidenceLevel,
) -> Result<PoweredDifference, UndefinedReason> {
    let width = check_finite(range.1 - range.0)?;
    let is_within = |value: f64| (range.0..=range.1).contains(&value);
    let is_valid = |item: &SideItem<K>| {
        is_within(item.judge)
            && item.label.is_none_or(|(value, drawn)| is_within(value) && drawn > 0.0 && drawn <= 1.0)
    };
    if width <= 0.0 || !sides.iter().all(|side| side.iter().all(is_valid)) {
        return Err(UndefinedReason::OutOfRange);
    }

    let [first, second] = sides;
    let (first, second) = (SideMeans::new(first)?, SideMeans::new(second)?);
    let (people, judge) = clusters_of([&first, &second], sides);
    let counted = people.iter().filter(|cluster| cluster.1).count() as f64;
    let people: Vec<f64> = people.into_iter().map(|cluster| cluster.0).collect();
    let weights = best_weights(&people, &judge, [first.labels, second.labels]);
    let squares: f64 = people
        .iter()
        .zip(&judge)
        .map(|(own, [one, other])| (own + weights[1] * other - weights[0] * one).powi(2))
        .sum();

    let one_more = (width * first.largest_share) * (width * second.largest_share);
    let se = check_finite((squares * counted / (counted - 1.0) + one_more).sqrt())?;
    let freedom = first.clusters.min(second.clusters) as f64 - 1.0;
    let corrected = |side: &SideMeans, weight: f64| side.people + weight * (side.everywhere - side.judge);
    let means = [corrected(&first, weights[0]), corrected(&second, weights[1])];
    let difference = check_finite(means[1] - means[0])?;
    let reach = student_critical_value(freedom, level)? * se;
    let interval = Interval::symmetric_around(difference, reach, level, IntervalMethod::PredictionPowered)?;
    Ok(PoweredDifference {
        means: means.map(|mean| mean.clamp(range.0, range.1)),
        labels: [first.labels, second.labels],
        weights,
        difference: difference.clamp(-width, width),
        people: second.people - first.people,
        se,
        interval: interval.clip(-width, width),
        p: student_two_sided(difference / se, freedom),
    })
}

/// Means of a side.
struct SideMeans {
    items: f64,
    labels: usize,
    /// Number of clusters with labels.
    clusters: usize,
    /// Total weight of the labels.
    total: f64,
    /// Largest share of a cluster in the total weight.
    largest_share: f64,
    /// Means over the labelled cases.
    people: f64,
    judge: f64,
    /// Mean of the judge over all cases.
    everywhere: f64,
}

impl SideMeans {
    fn new<K: Ord>(side: &[SideItem<K>]) -> Result<Self, UndefinedReason> {
        let mut of_cluster: BTreeMap<&K, f64> = BTreeMap::new();
        let (mut labels, mut total, mut people, mut judge) = (0, 0.0, 0.0, 0.0);
        for (item, (value, drawn)) in side.iter().filter_map(|item| Some((item, item.label?))) {
            labels += 1;
            total += 1.0 / drawn;
            people += value / drawn;
            judge += item.judge / drawn;
            *of_cluster.entry(&item.cluster).or_default() += 1.0 / drawn;
        }
        match of_cluster.len() {
            0 => return Err(UndefinedReason::NoValues),
            1 => return Err(UndefinedReason::OneCluster),
            _ => {}
        }

        let items = side.len() as f64;
        Ok(Self {
            items,
            labels,
            clusters: of_cluster.len(),
            total,
            largest_share: of_cluster.values().fold(0.0, |most, share| share.max(most)) / total,
            people: people / total,
            judge: judge / total,
            everywhere: side.iter().map(|item| item.judge).sum::<f64>() / items,
        })
    }
}

/// Returns the contribution of each cluster to the difference of the labels, and whether it has labels; and its
/// contribution to the judge's correction of each side.
fn clusters_of<K: Ord>(
    means: [&SideMeans; 2],
    sides: [&[SideItem<K>]; 2],
) -> (Vec<(f64, bool)>, Vec<[f64; 2]>) {
    let mut clusters: BTreeMap<&K, ((f64, bool), [f64; 2])> = BTreeMap::new();
    for (at, (side, mean)) in sides.into_iter().zip(means).enumerate() {
        let sign = if at == 0 { -1.0 } else { 1.0 };
        for item in side {
            let (own, judge) = clusters.entry(&item.cluster).or_default();
            judge[at] += (item.judge - mean.everywhere) / mean.items;
            if let Some((value, drawn)) = item.label {
                let share = 1.0 / drawn / mean.total;
                own.0 += sign * share * (value - mean.people);
                own.1 = true;
                judge[at] -= share * (item.judge - mean.judge);
            }
        }
    }
    clusters.into_values().unzip()
}

/// Returns the weights of the judge that minimise the error, shrunk for few labels.
fn best_weights(people: &[f64], judge: &[[f64; 2]], labels: [usize; 2]) -> [f64; 2] {
    let product = |a: usize, b: usize| judge.iter().map(|cluster| cluster[a] * cluster[b]).sum::<f64>();
    let with_people =
        |at: usize| people.iter().zip(judge).map(|(own, cluster)| own * cluster[at]).sum::<f64>();
    // Normal equations of `people + b1 judge1 - b0 judge0`.
    let (one, other, both) = (product(0, 0), product(1, 1), product(0, 1));
    let (of_one, of_other) = (with_people(0), -with_people(1));
    let determinant = one * other - both * both;
    let best = if determinant > 1e-12 * one * other {
        [(of_one * other + of_other * both) / determinant, (of_other * one + of_one * both) / determinant]
    } else {
        // If the judge does not vary on one side, or varies alike on both, there is at most one weight to choose.
        let alone = |sum: f64, spread: f64| if spread > 0.0 { sum / spread } else { 0.0 };
        if one > 0.0 && other > 0.0 { [0.0, 0.0] } else { [alone(of_one, one), alone(of_other, other)] }
    };
    [0, 1].map(|at| {
        let n = labels[at] as f64;
        (best[at] * n / (n + PSEUDO_LABELS)).clamp(0.0, 1.0)
    })
}
