//! Agreement between people: an upper limit for the agreement that can be expected of a judge.

use assize_stats::{
    UndefinedReason,
    agreement::{AlphaMetric, OrderedPairs, UnitRatings},
    judge_quality::ConfusionTable,
};

use super::item::CalibrationItem;
use super::pairing::{group_positions, item_cluster_numbers, units_of};
use super::verdicts::{ClusterTables, MetricParts, alpha_metric};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// The numbers that people gave to the items with two labels or more, and the positions of the items of each cluster. Every
/// label is paired with every other label of the same item, in both orders, so that no person is the reference.
fn labelled_twice(items: &[&CalibrationItem]) -> (UnitRatings, Vec<Vec<usize>>) {
    let (mut ratings, mut clusters) = (UnitRatings::new(), Vec::new());
    for (item, cluster) in items.iter().zip(item_cluster_numbers(items)) {
        let labels: Vec<f64> = item.people().iter().filter_map(|(_, label)| label.number()).collect();
        if labels.len() > 1 {
            ratings.push(labels);
            clusters.push(cluster);
        }
    }

    (ratings, group_positions(clusters))
}

/// Counts the pairs of verdicts on an item.
fn count_pairs(verdicts: &[f64]) -> ConfusionTable {
    let met = verdicts.iter().filter(|verdict| **verdict > 0.5).count() as u64;
    let unmet = verdicts.len() as u64 - met;
    ConfusionTable {
        true_pass: met * met.saturating_sub(1),
        false_pass: met * unmet,
        false_fail: met * unmet,
        true_fail: unmet * unmet.saturating_sub(1),
    }
}

/// Computes the metrics of agreement between people on verdicts; empty if no item has two labels. Pairs from
/// the same item are not independent.
pub(crate) fn people_verdict_metrics(
    items: &[&CalibrationItem],
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let (ratings, groups) = labelled_twice(items);
    if ratings.is_empty() {
        return Vec::new();
    }

    let of_group = |items: &Vec<usize>| items.iter().map(|&at| count_pairs(ratings.unit(at))).sum();
    let tables = ClusterTables::new(groups.iter().map(of_group).collect(), resampling);
    let estimate = |id, name, (value, interval, n): MetricParts, says| MetricEstimate {
        id,
        name,
        value,
        interval,
        n,
        of: "ordered pairs",
        says,
    };

    let mut figures = vec![
        estimate(
            "accuracy",
            "raw agreement",
            tables.rate(ConfusionTable::accuracy),
            "How often two people give the same verdict on an answer.",
        ),
        estimate(
            "macro_f1",
            "macro-F1",
            tables.other(ConfusionTable::macro_f1),
            "Macro-F1 of one person measured against another.",
        ),
        estimate(
            "kappa",
            "Cohen's kappa",
            tables.kappa(),
            "An upper bound for judges: they rarely agree with people more than people with each other.",
        ),
    ];

    figures.push(alpha_metric(items, AlphaMetric::Nominal, false, resampling));
    figures
}

/// Computes the metrics of agreement between people on scores.
pub(crate) fn people_score_metrics(
    items: &[&CalibrationItem],
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let (ratings, groups) = labelled_twice(items);
    if ratings.is_empty() {
        return Vec::new();
    }

    let estimate = |id, name, figure: fn(&OrderedPairs) -> Result<f64, UndefinedReason>, says| {
        let pairs = OrderedPairs::new(&ratings);
        let value = pairs.as_ref().map_err(|reason| *reason).and_then(figure);
        let interval = value.and_then(|_| {
            let drawn =
                |chosen: &[usize]| figure(&OrderedPairs::new(&ratings.select(&units_of(&groups, chosen)))?);
            resampling.bootstrap_interval(groups.len(), drawn)
        });
        let n = pairs.map_or(0, |pairs| pairs.count());
        MetricEstimate { id, name, value, interval, n, of: "ordered pairs", says }
    };

    let mut figures = vec![
        estimate(
            "spearman",
            "Spearman's correlation",
            OrderedPairs::spearman,
            "Agreement of two people on the order of answers.",
        ),
        estimate(
            "pearson",
            "Pearson's correlation",
            OrderedPairs::pearson,
            "Correlation of the scores themselves.",
        ),
        estimate(
            "mae",
            "mean absolute error",
            OrderedPairs::mean_distance,
            "Mean distance between two people on the same answer, in points.",
        ),
    ];
    for metric in [AlphaMetric::Ordinal, AlphaMetric::Interval, AlphaMetric::Nominal] {
        figures.push(alpha_metric(items, metric, false, resampling));
    }

    figures
}
