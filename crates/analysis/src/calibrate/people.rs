//! Agreement between people: an upper limit for the agreement that can be expected of a judge.

use assize_stats::{
    agreement::AlphaMetric,
    judge_quality::{ConfusionTable, mean_absolute_error, pearson, spearman},
};

use super::item::CalibrationItem;
use super::pairing::{
    JudgePeoplePair, PairStatistic, group_positions, item_cluster_numbers, resampled_statistic, split_columns,
};
use super::verdicts::{ClusterTables, MetricParts, alpha_metric};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Pairs every label with every other label of the same item, in both orders, so that no person is the
/// reference.
fn ordered_pairs(items: &[&CalibrationItem]) -> Vec<JudgePeoplePair> {
    let mut pairs = Vec::new();
    for (at, (item, cluster)) in items.iter().zip(item_cluster_numbers(items)).enumerate() {
        let labels: Vec<f64> = item.people().iter().filter_map(|(_, label)| label.number()).collect();
        for (one, &judge) in labels.iter().enumerate() {
            for (_, &people) in labels.iter().enumerate().filter(|(other, _)| *other != one) {
                pairs.push(JudgePeoplePair { judge, people, cluster, item: at });
            }
        }
    }

    pairs
}

/// Computes the metrics of agreement between people on verdicts; empty if no item has two labels. Pairs from
/// the same item are not independent.
pub(crate) fn people_verdict_metrics(
    items: &[&CalibrationItem],
    resampling: ResamplingOptions,
) -> Vec<MetricEstimate> {
    let pairs = ordered_pairs(items);
    if pairs.is_empty() {
        return Vec::new();
    }

    let tables = ClusterTables::new(&pairs, resampling);
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
    let pairs = ordered_pairs(items);
    if pairs.is_empty() {
        return Vec::new();
    }

    let (one, other) = split_columns(&pairs);
    let groups = group_positions(pairs.iter().map(|pair| pair.cluster));
    let estimate = |id, name, figure: &PairStatistic<'_>, says| {
        let value = figure(&one, &other);
        let interval = value.and_then(|_| {
            resampling.bootstrap_interval(groups.len(), resampled_statistic((&one, &other), &groups, figure))
        });
        MetricEstimate { id, name, value, interval, n: pairs.len() as u64, of: "ordered pairs", says }
    };

    let mut figures = vec![
        estimate(
            "spearman",
            "Spearman's correlation",
            &spearman,
            "Agreement of two people on the order of answers.",
        ),
        estimate("pearson", "Pearson's correlation", &pearson, "Correlation of the scores themselves."),
        estimate(
            "mae",
            "mean absolute error",
            &mean_absolute_error,
            "Mean distance between two people on the same answer, in points.",
        ),
    ];
    for metric in [AlphaMetric::Ordinal, AlphaMetric::Interval, AlphaMetric::Nominal] {
        figures.push(alpha_metric(items, metric, false, resampling));
    }

    figures
}
