//! The alternative annotator test: may a judge replace a person?

use crate::{
    ConfidenceLevel, UndefinedReason, clustered_mean, distribution::student_two_sided,
    undefined::check_finite,
};

/// Number of items that the test needs of each annotator.
pub const MIN_ANNOTATED: usize = 30;
/// Number of annotators that the test needs.
pub const MIN_ANNOTATORS: usize = 3;
/// Number of other annotators that an item needs to measure alignment with them.
const MIN_OTHERS: usize = 2;

/// An item with the values of the judge and of annotators, who are numbered from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatedItem<K> {
    /// Cluster of the item.
    pub cluster: K,
    /// Value that the judge gave.
    pub judge: f64,
    /// Values of annotators, each at most once.
    pub people: Vec<(usize, f64)>,
}

/// Comparison of the judge with one annotator: how well each aligns with the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnnotatorComparison {
    /// Number of the annotator.
    pub annotator: usize,
    /// Number of items that at least two others annotated too.
    pub items: usize,
    /// Share of these items on which the judge aligns with the others at least as well as the annotator.
    pub judge: f64,
    /// Share on which the annotator aligns at least as well as the judge.
    pub person: f64,
    /// Probability of such shares if the judge were worse by more than the tolerance; not adjusted.
    pub p: Result<f64, UndefinedReason>,
}

/// How the alignment of a value with others is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// Share of equal values, for verdicts.
    Equal,
    /// Root of the mean squared distance, for scores.
    Distance,
}

/// Compares a judge with each annotator in turn: on every item, the one who aligns better with the other annotators
/// wins, and both do if they align alike. The judge is shown to be no worse than an annotator if the share of items that
/// the annotator wins exceeds the judge's by less than `tolerance`, by Student's test over clusters. If the difference
/// is the same for all clusters, p is the probability of no item that only the annotator wins.
///
/// Source: N. Calderon, R. Reichart and R. Dror, "The Alternative Annotator Test for LLM-as-a-Judge", ACL 2025, arXiv
/// 2501.10970. There, items are independent, the tolerance is epsilon, and the p values are decided together by the
/// procedure of Benjamini and Yekutieli.
pub fn compare_with_annotators<K: Ord + Copy>(
    items: &[AnnotatedItem<K>],
    alignment: Alignment,
    tolerance: f64,
) -> Vec<AnnotatorComparison> {
    let annotators = items.iter().flat_map(|item| &item.people).map(|(who, _)| who + 1).max().unwrap_or(0);
    (0..annotators).map(|annotator| compare_with(annotator, items, alignment, tolerance)).collect()
}

fn compare_with<K: Ord + Copy>(
    annotator: usize,
    items: &[AnnotatedItem<K>],
    alignment: Alignment,
    tolerance: f64,
) -> AnnotatorComparison {
    let (mut leads, mut clusters) = (Vec::new(), Vec::new());
    let (mut judge_wins, mut person_wins) = (0u32, 0u32);
    for item in items {
        let own = item.people.iter().find(|(who, _)| *who == annotator);
        let others: Vec<f64> =
            item.people.iter().filter(|(who, _)| *who != annotator).map(|(_, value)| *value).collect();
        let Some((_, own)) = own.filter(|_| others.len() >= MIN_OTHERS) else { continue };
        let (judge, person) = (alignment.of(item.judge, &others), alignment.of(*own, &others));
        // Sums of the same numbers in another order may differ in the last digit.
        let is_equal = (judge - person).abs() < 1e-12;
        let (judge, person) = (judge > person || is_equal, person > judge || is_equal);
        judge_wins += u32::from(judge);
        person_wins += u32::from(person);
        leads.push(f64::from(u8::from(person)) - f64::from(u8::from(judge)));
        clusters.push(item.cluster);
    }

    let n = leads.len() as f64;
    AnnotatorComparison {
        annotator,
        items: leads.len(),
        judge: f64::from(judge_wins) / n.max(1.0),
        person: f64::from(person_wins) / n.max(1.0),
        p: p_value(&leads, &clusters, tolerance),
    }
}

/// Probability of a mean lead of the annotator this far below the tolerance.
fn p_value<K: Ord>(leads: &[f64], clusters: &[K], tolerance: f64) -> Result<f64, UndefinedReason> {
    let found = clustered_mean(leads, clusters, ConfidenceLevel::P95)?;
    let (se, freedom) = (found.se_cr1?, found.clusters as f64 - 1.0);
    if se <= 1e-12 {
        return check_finite(if found.mean > 0.0 {
            1.0
        } else {
            (1.0 - tolerance).max(0.0).powf(found.clusters as f64)
        });
    }

    let t = (found.mean - tolerance) / se;
    let beyond = student_two_sided(t, freedom) / 2.0;
    check_finite(if t < 0.0 { beyond } else { 1.0 - beyond })
}

impl Alignment {
    /// How well a value aligns with others; more is better.
    fn of(self, value: f64, others: &[f64]) -> f64 {
        let n = others.len() as f64;
        match self {
            Self::Equal => others.iter().filter(|other| **other == value).count() as f64 / n,
            Self::Distance => -(others.iter().map(|other| (other - value).powi(2)).sum::<f64>() / n).sqrt(),
        }
    }
}
