//! Agreement among people: an upper limit for what a judge can be expected to reach.

use assize_stats::{
    Undefined,
    agreement::Metric,
    judged::{Confusion, mean_absolute_error, pearson, spearman},
};

use super::item::Item;
use super::pairing::{Pair, PairFigure, added, by_cluster, by_number, columns, crossed, drawn};
use super::verdicts::alpha_figure;
use crate::figure::{Figure, Resampling};

/// Pairs every label with every other label of the same item, in both orders, so that no person is the
/// reference.
fn ordered_pairs(items: &[&Item]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (at, (item, cluster)) in items.iter().zip(by_number(items)).enumerate() {
        let said: Vec<f64> = item.people.iter().filter_map(|(_, said)| said.number()).collect();
        for (one, &judge) in said.iter().enumerate() {
            for (_, &people) in said.iter().enumerate().filter(|(other, _)| *other != one) {
                pairs.push(Pair { judge, people, cluster, item: at });
            }
        }
    }
    pairs
}

/// Computes the metrics of agreement among people on verdicts; empty if no item has two labels. Pairs of one
/// item are not independent, so that all intervals are resampled.
pub(crate) fn people_on_verdicts(items: &[&Item], resampling: Resampling) -> Vec<Figure> {
    let pairs = ordered_pairs(items);
    if pairs.is_empty() {
        return Vec::new();
    }
    let table = crossed(&pairs);
    let groups = by_cluster(pairs.iter().map(|pair| pair.cluster));
    let tables: Vec<Confusion> =
        groups.iter().map(|members| crossed(members.iter().map(|&at| &pairs[at]))).collect();
    let level = resampling.level;
    let of = |id, name, figure: &dyn Fn(Confusion) -> Result<f64, Undefined>, says| {
        let value = figure(table);
        let interval =
            value.and_then(|_| resampling.interval(tables.len(), |chosen| figure(added(&tables, chosen))));
        Figure { id, name, value, interval, n: table.n(), of: "ordered pairs", says }
    };
    let mut figures = vec![
        of(
            "accuracy",
            "raw agreement",
            &|table| table.accuracy(level).rate,
            "How often one person says what another says of the same answer.",
        ),
        of(
            "macro_f1",
            "macro-F1",
            &Confusion::macro_f1,
            "What one person would reach as a judge of the other's labels.",
        ),
        of(
            "kappa",
            "Cohen's kappa",
            &|table| table.kappa(level).and_then(|kappa| kappa.kappa),
            "A judge can hardly be expected to agree with people more than they do with each other.",
        ),
    ];
    figures.push(alpha_figure(items, Metric::Nominal, false, resampling));
    figures
}

/// Computes the metrics of agreement among people on scores.
pub(crate) fn people_on_scores(items: &[&Item], resampling: Resampling) -> Vec<Figure> {
    let pairs = ordered_pairs(items);
    if pairs.is_empty() {
        return Vec::new();
    }
    let (one, other) = columns(&pairs);
    let groups = by_cluster(pairs.iter().map(|pair| pair.cluster));
    let of = |id, name, figure: &PairFigure<'_>, says| {
        let value = figure(&one, &other);
        let interval =
            value.and_then(|_| resampling.interval(groups.len(), drawn((&one, &other), &groups, figure)));
        Figure { id, name, value, interval, n: pairs.len() as u64, of: "ordered pairs", says }
    };
    let mut figures = vec![
        of(
            "spearman",
            "Spearman's correlation",
            &spearman,
            "How far one person puts answers into the order another does.",
        ),
        of("pearson", "Pearson's correlation", &pearson, "The same for the scores themselves."),
        of(
            "mae",
            "mean absolute error",
            &mean_absolute_error,
            "How far two people lie apart on the same answer, in points.",
        ),
    ];
    for metric in [Metric::Ordinal, Metric::Interval, Metric::Nominal] {
        figures.push(alpha_figure(items, metric, false, resampling));
    }
    figures
}
