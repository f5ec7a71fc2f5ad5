//! Whether a judge may replace a person: the alternative annotator test.

use std::collections::{BTreeMap, BTreeSet};

use assize_stats::judge_quality::{
    Alignment, AnnotatedItem, AnnotatorComparison, MIN_ANNOTATED, MIN_ANNOTATORS, compare_with_annotators,
};
use serde::Serialize;

use super::item::CalibrationItem;
use crate::claims::{ALPHA, decide_dependent};

/// Share of annotators that a judge must match to replace them: as many as it does not.
const LEAST_WINNING: f64 = 0.5;

/// Comparison of the judge with one annotator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplacedAnnotator {
    /// Name of the annotator.
    pub name: String,
    /// Number of items that two others labelled too.
    pub items: usize,
    /// Share of these on which the judge aligns with the others at least as well as the annotator.
    pub judge: f64,
    /// Share on which the annotator aligns at least as well as the judge.
    pub person: f64,
    /// p value, adjusted for the number of annotators by Benjamini and Yekutieli's procedure; null if the annotator is
    /// not tested.
    pub p_adjusted: Option<f64>,
    /// True if the judge was shown to be no worse than the annotator, within epsilon.
    pub matched: bool,
}

/// Result of the alternative annotator test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplacementTest {
    /// Cost advantage granted to the judge: it may win on this share of items less than the annotator.
    pub epsilon: f64,
    /// All people who labelled an item, by name.
    pub annotators: Vec<ReplacedAnnotator>,
    /// Share of the tested annotators that the judge matches; null if there are too few.
    pub winning_rate: Option<f64>,
    /// Mean of `judge` over the tested annotators: the probability that the judge aligns at least as well as one of them.
    pub advantage: Option<f64>,
    /// True if the winning rate is at least one half, so that the judge may replace a person.
    pub may_replace: Option<bool>,
    /// The result in a sentence.
    pub says: String,
}

/// Tests whether the judge aligns with people as well as they do with each other. `None` if no item has labels of two
/// named people.
pub(crate) fn test_replacement(
    items: &[&CalibrationItem],
    scores: bool,
    epsilon: f64,
) -> Option<ReplacementTest> {
    let named = |item: &CalibrationItem| -> Vec<(String, f64)> {
        let labels = item.people().iter();
        labels.filter_map(|(who, said)| Some((who.clone()?, said.number()?))).collect()
    };
    let labelled: Vec<_> = items
        .iter()
        .filter_map(|item| Some((item, item.judge_number()?, named(item))))
        .filter(|(.., people)| !people.is_empty())
        .collect();
    if labelled.iter().all(|(.., people)| people.len() < 2) {
        return None;
    }

    let names: BTreeSet<&str> =
        labelled.iter().flat_map(|(.., people)| people).map(|(who, _)| who.as_str()).collect();
    let numbers: BTreeMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let annotated: Vec<AnnotatedItem<&str>> = labelled
        .iter()
        .map(|(item, judge, people)| AnnotatedItem {
            cluster: &*item.cluster,
            judge: *judge,
            people: people.iter().map(|(who, value)| (numbers[who.as_str()], *value)).collect(),
        })
        .collect();
    let alignment = if scores { Alignment::Distance } else { Alignment::Equal };
    let found = compare_with_annotators(&annotated, alignment, epsilon);
    let p_of = |one: &AnnotatorComparison| one.p.ok().filter(|_| one.items >= MIN_ANNOTATED);
    let tested: Vec<f64> = found.iter().filter_map(p_of).collect();
    let mut decided = decide_dependent(&tested, ALPHA).into_iter();
    let annotators: Vec<ReplacedAnnotator> = names
        .iter()
        .zip(&found)
        .map(|(name, one)| {
            let claim = p_of(one).and_then(|_| decided.next());
            ReplacedAnnotator {
                name: (*name).to_owned(),
                items: one.items,
                judge: one.judge,
                person: one.person,
                p_adjusted: claim.map(|claim| claim.p_adjusted),
                matched: claim.is_some_and(|claim| claim.is_shown),
            }
        })
        .collect();

    Some(ReplacementTest::new(annotators, epsilon))
}

impl ReplacementTest {
    fn new(annotators: Vec<ReplacedAnnotator>, epsilon: f64) -> Self {
        let tested: Vec<&ReplacedAnnotator> =
            annotators.iter().filter(|one| one.p_adjusted.is_some()).collect();
        let (n, matched) = (tested.len(), tested.iter().filter(|one| one.matched).count());
        if n < MIN_ANNOTATORS {
            let says = format!(
                "Whether the judge may replace a person can't be said: that takes {MIN_ANNOTATORS} people with {MIN_ANNOTATED} items \
                 each that two others labelled too; there are {n}."
            );
            return Self {
                epsilon,
                annotators,
                winning_rate: None,
                advantage: None,
                may_replace: None,
                says,
            };
        }

        let (rate, advantage) =
            (matched as f64 / n as f64, tested.iter().map(|one| one.judge).sum::<f64>() / n as f64);
        let may_replace = rate >= LEAST_WINNING;
        let says = format!(
            "{}: it agrees with the others at most {epsilon} less often than {matched} of {n} people do (winning rate {rate:.2}, \
             {LEAST_WINNING} needed).",
            if may_replace {
                "The judge may replace a person"
            } else {
                "It was not shown that the judge may replace a person"
            },
        );
        Self {
            epsilon,
            winning_rate: Some(rate),
            advantage: Some(advantage),
            may_replace: Some(may_replace),
            says,
            annotators,
        }
    }
}
