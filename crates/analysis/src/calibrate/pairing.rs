//! Pairs of a judge's decision and a label.

use std::collections::BTreeMap;

use assize_stats::{UndefinedReason, judge_quality::ConfusionTable};
use serde::Serialize;

use super::item::{CalibrationItem, DecisionValue};

/// Reference that a judge is compared with where several people labelled an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TruthRule {
    /// Every label is a pair of its own.
    #[default]
    Each,
    /// One pair per item: with the majority of verdicts (a tie gives no pair) or the mean of scores.
    Consensus,
}

/// A judge's and a person's decision on the same item, as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct JudgePeoplePair {
    pub(crate) judge: f64,
    pub(crate) people: f64,
    /// Number of the cluster.
    pub(crate) cluster: usize,
    /// Index of the item.
    pub(crate) item: usize,
}

/// Counts of the items of a section: how many could be compared, and why the others could not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PairingCounts {
    /// Items on which the judge was called.
    pub judged: u64,
    /// Items that at least one person labelled.
    pub labelled: u64,
    /// Items with both a decision of the judge and a label.
    pub compared: u64,
    /// Labelled items that the judge left ungraded.
    pub ungraded: u64,
    /// Labelled items on which the judge was not called.
    pub not_judged: u64,
    /// Labelled items that the judge found not applicable and people did not.
    pub judge_not_applicable: u64,
    /// Labelled items that people found not applicable and the judge did not.
    pub people_not_applicable: u64,
    /// Labelled items that both found not applicable.
    pub both_not_applicable: u64,
    /// Labelled items on which everybody was unsure.
    pub unsure: u64,
    /// Labelled items with as many met as unmet labels, if the majority counts.
    pub tied: u64,
}

/// A statistic of the judge's numbers and people's numbers.
pub(crate) type PairStatistic<'f> = dyn Fn(&[f64], &[f64]) -> Result<f64, UndefinedReason> + 'f;

/// Numbers the clusters in the order of their names.
pub(crate) fn cluster_numbers<'i>(
    items: impl IntoIterator<Item = &'i CalibrationItem>,
) -> BTreeMap<&'i str, usize> {
    let mut numbers: BTreeMap<&str, usize> = items.into_iter().map(|item| (&*item.cluster, 0)).collect();
    for (number, (_, value)) in numbers.iter_mut().enumerate() {
        *value = number;
    }

    numbers
}

/// Pairs decisions with labels and counts the items without a counterpart.
pub(crate) fn pair_up(items: &[&CalibrationItem], truth: TruthRule) -> (Vec<JudgePeoplePair>, PairingCounts) {
    let clusters = cluster_numbers(items.iter().copied());
    let (mut pairs, mut cells) = (Vec::new(), PairingCounts::default());
    for (at, item) in items.iter().enumerate() {
        cells.judged += u64::from(item.judge.is_some());

        if item.truths().next().is_none() {
            continue;
        }

        cells.labelled += 1;
        let numbers: Vec<f64> = item.truths().filter_map(DecisionValue::number).collect();
        let not_applicable = item.truths().any(|said| said == DecisionValue::NotApplicable);
        let judge = item.judge.as_ref().map(|judge| judge.said);
        let counter = match (judge, numbers.is_empty()) {
            (None, _) => &mut cells.not_judged,
            (Some(DecisionValue::Undecided), _) => &mut cells.ungraded,
            (Some(DecisionValue::NotApplicable), true) if not_applicable => &mut cells.both_not_applicable,
            (Some(DecisionValue::NotApplicable), false) => &mut cells.judge_not_applicable,
            (Some(_), true) if not_applicable => &mut cells.people_not_applicable,
            (Some(_), true) => &mut cells.unsure,
            (Some(said @ (DecisionValue::Verdict(_) | DecisionValue::Score(_))), false) => {
                let truths = match truth {
                    TruthRule::Each => numbers,
                    TruthRule::Consensus => {
                        consensus_numbers(&numbers, matches!(said, DecisionValue::Verdict(_)))
                    }
                };
                if truths.is_empty() {
                    &mut cells.tied
                } else {
                    let cluster = clusters.get(&*item.cluster).copied().unwrap_or_default();
                    let judge = said.number().unwrap_or_default();
                    pairs.extend(truths.into_iter().map(|people| JudgePeoplePair {
                        judge,
                        people,
                        cluster,
                        item: at,
                    }));

                    &mut cells.compared
                }
            }
        };

        *counter += 1;
    }

    (pairs, cells)
}

fn consensus_numbers(numbers: &[f64], verdicts: bool) -> Vec<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    if !verdicts {
        return vec![mean];
    }

    // 0.5 is exact in floating point.
    if mean == 0.5 { Vec::new() } else { vec![f64::from(u8::from(mean > 0.5))] }
}

/// Returns the judge's numbers and people's numbers.
pub(crate) fn split_columns(pairs: &[JudgePeoplePair]) -> (Vec<f64>, Vec<f64>) {
    pairs.iter().map(|pair| (pair.judge, pair.people)).unzip()
}

/// Groups the positions of pairs by cluster.
pub(crate) fn group_positions(clusters: impl IntoIterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, cluster) in clusters.into_iter().enumerate() {
        groups.entry(cluster).or_default().push(at);
    }
    groups.into_values().collect()
}

/// Builds the confusion table of verdict pairs.
pub(crate) fn confusion_table<'p>(pairs: impl IntoIterator<Item = &'p JudgePeoplePair>) -> ConfusionTable {
    let mut counts = ConfusionTable::default();
    for pair in pairs {
        match (pair.judge > 0.5, pair.people > 0.5) {
            (true, true) => counts.true_pass += 1,
            (true, false) => counts.false_pass += 1,
            (false, true) => counts.false_fail += 1,
            (false, false) => counts.true_fail += 1,
        }
    }

    counts
}

/// Returns the positions of all items in the chosen groups, for a resample.
pub(crate) fn units_of(groups: &[Vec<usize>], chosen: &[usize]) -> Vec<usize> {
    chosen.iter().filter_map(|&at| groups.get(at)).flatten().copied().collect()
}

/// Returns a closure that computes a statistic on a resample.
pub(crate) fn resampled_statistic<'v>(
    values: (&'v [f64], &'v [f64]),
    groups: &'v [Vec<usize>],
    figure: impl Fn(&[f64], &[f64]) -> Result<f64, UndefinedReason> + 'v,
) -> impl FnMut(&[usize]) -> Result<f64, UndefinedReason> + 'v {
    move |chosen| {
        let units = units_of(groups, chosen);
        let pick = |values: &[f64]| units.iter().map(|&at| values[at]).collect::<Vec<f64>>();
        figure(&pick(values.0), &pick(values.1))
    }
}

/// Returns the cluster number of each item.
pub(crate) fn item_cluster_numbers(items: &[&CalibrationItem]) -> Vec<usize> {
    let clusters = cluster_numbers(items.iter().copied());
    items.iter().map(|item| clusters.get(&*item.cluster).copied().unwrap_or_default()).collect()
}
