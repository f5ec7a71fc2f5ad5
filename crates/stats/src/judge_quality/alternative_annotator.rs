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
    // Whether each annotator won an item and the judge did not, 1, or the other way round, -1; and the cluster of the item.
    let mut leads: Vec<(Vec<f64>, Vec<K>)> = vec![(Vec::new(), Vec::new()); annotators];
    for item in items.iter().filter(|item| item.people.len() > MIN_OTHERS) {
        let all = AllValues::new(item, alignment);
        for (who, own) in &item.people {
            let ahead = all.alignment(*own, *own) - all.alignment(item.judge, *own);
            // Sums of the same numbers in another order may differ in the last digit.
            leads[*who].0.push(if ahead.abs() < 1e-12 { 0.0 } else { ahead.signum() });
            leads[*who].1.push(item.cluster);
        }
    }

    let compared = |(annotator, (leads, clusters)): (usize, &(Vec<f64>, Vec<K>))| {
        let share =
            |won: fn(&&f64) -> bool| leads.iter().filter(won).count() as f64 / leads.len().max(1) as f64;
        AnnotatorComparison {
            annotator,
            items: leads.len(),
            judge: share(|lead| **lead <= 0.0),
            person: share(|lead| **lead >= 0.0),
            p: p_value(leads, clusters, tolerance),
        }
    };
    leads.iter().enumerate().map(compared).collect()
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

/// The values of all annotators of an item, such that leaving one out takes no second look at the others.
struct AllValues {
    alignment: Alignment,
    /// In ascending order.
    sorted: Vec<f64>,
    /// Sums of the distances from the first value, and of their squares.
    sum: f64,
    squares: f64,
}

impl AllValues {
    fn new<K>(item: &AnnotatedItem<K>, alignment: Alignment) -> Self {
        let mut sorted: Vec<f64> = item.people.iter().map(|(_, value)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let away = || sorted.iter().map(|value| value - sorted[0]);
        let (sum, squares) = (away().sum(), away().map(|away| away * away).sum());
        Self { alignment, sorted, sum, squares }
    }

    /// How well a value aligns with all values but `own`; more is better.
    fn alignment(&self, value: f64, own: f64) -> f64 {
        let n = self.sorted.len() as f64 - 1.0;
        match self.alignment {
            Alignment::Equal => {
                let below = self.sorted.partition_point(|other| *other < value);
                let equal = self.sorted.partition_point(|other| *other <= value) - below;
                (equal - usize::from(own == value)) as f64 / n
            }
            Alignment::Distance => {
                let (away, own) = (value - self.sorted[0], own - self.sorted[0]);
                let squares = self.squares - own * own - 2.0 * away * (self.sum - own) + n * away * away;
                -(squares.max(0.0) / n).sqrt()
            }
        }
    }
}
