//! Several candidates compared with one base and with each other.

use serde::Serialize;

use super::labelled::LabelledDifference;
use super::metric_difference::{MetricDifference, MetricUnit, PairSample, compare_metric};
use super::mismatch::MismatchCounts;
use super::pairing::{RunComparison, compare};
use super::tables::adjust_all;
use super::touched::MetricPart;
use super::{ComparisonAspect, ComparisonOptions, HeadlineMetric};
use crate::facts::{NameTable, RunFacts};
use crate::sample::ClusteredSample;

/// Comparison of several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonSet {
    /// Each candidate against the base. With several, their headline p values are adjusted for their number.
    pub comparisons: Vec<RunComparison>,
    /// The runs, the base first.
    pub runs: Vec<String>,
    /// Change of the headline metric from the column's run to the row's, over the cases that these two share;
    /// null on the diagonal. p values are adjusted over all pairs of runs. Empty for two runs.
    pub matrix: Vec<Vec<Option<MetricDifference>>>,
    /// What to know before the best candidate is chosen; null for a single candidate.
    pub selection: Option<&'static str>,
    /// Differences corrected by people's labels; empty without labels.
    pub labelled: Vec<LabelledDifference>,
    /// Source of the weights, gates and thresholds that all runs were rescored with; null if they were not
    /// rescored.
    pub rescored_with: Option<String>,
}

/// The best of several is chosen partly for its luck. Source: I. Andrews, T. Kitagawa and A. McCloskey, "Inference on
/// winners", Quarterly Journal of Economics 139 (2024).
const SELECTION: &str = "The best of several candidates owes part of its lead to chance: measure it again, on new cases, before you rely on its numbers.";

/// Compares each candidate with the base, and each run with every other.
pub fn compare_many(
    base: &RunFacts,
    candidates: &[RunFacts],
    names: &NameTable,
    options: &ComparisonOptions,
) -> ComparisonSet {
    let mut comparisons: Vec<RunComparison> =
        candidates.iter().map(|candidate| compare(base, candidate, names, options)).collect();
    let runs: Vec<&RunFacts> = std::iter::once(base).chain(candidates).collect();
    let mut matrix = Vec::new();
    if comparisons.len() > 1 {
        adjust_all(comparisons.iter_mut().map(|comparison| &mut comparison.pass_rate), options);
        adjust_all(comparisons.iter_mut().map(|comparison| &mut comparison.score), options);
        comparisons.iter_mut().for_each(RunComparison::update_verdict);
        matrix = compare_all_pairs(&runs, names, options);
    }

    ComparisonSet {
        comparisons,
        runs: runs.iter().map(|run| run.label.clone()).collect(),
        selection: (!matrix.is_empty()).then_some(SELECTION),
        matrix,
        labelled: Vec::new(),
        rescored_with: None,
    }
}

fn compare_all_pairs(
    runs: &[&RunFacts],
    names: &NameTable,
    options: &ComparisonOptions,
) -> Vec<Vec<Option<MetricDifference>>> {
    let unit = match options.headline {
        HeadlineMetric::Score => MetricUnit::Score,
        HeadlineMetric::PassRate => MetricUnit::Rate,
    };
    let mut below: Vec<((usize, usize), MetricDifference)> = Vec::new();
    for row in 0..runs.len() {
        for column in 0..row {
            let options = &options.for_runs(runs[column], runs[row]);
            let (pairs, reason) = headline_pairs(runs[column], runs[row], names, options);
            let contrast = match reason {
                Some(reason) => MetricDifference::withheld(pairs.len(), unit, reason, options),
                None => compare_metric(&pairs, unit, options),
            };
            below.push(((row, column), contrast));
        }
    }

    adjust_all(below.iter_mut().map(|(_, contrast)| contrast), options);
    let mut matrix = vec![vec![None; runs.len()]; runs.len()];
    for ((row, column), found) in below {
        matrix[column][row] = Some(found.swap_sides(options));
        matrix[row][column] = Some(found);
    }

    matrix
}

/// Collects the headline metric of two runs over the cases they share, or returns the aspect that makes it
/// incomparable.
fn headline_pairs(
    base: &RunFacts,
    candidate: &RunFacts,
    names: &NameTable,
    options: &ComparisonOptions,
) -> (PairSample, Option<ComparisonAspect>) {
    let part = match options.headline {
        HeadlineMetric::Score => MetricPart::Score,
        HeadlineMetric::PassRate => MetricPart::PassRate,
    };
    let figure = |case: &crate::CaseFact| match options.headline {
        HeadlineMetric::Score => case.score,
        HeadlineMetric::PassRate => case.passed().map(|passed| f64::from(u8::from(passed))),
    };
    let mut sample = PairSample { base: Vec::new(), candidate: ClusteredSample::default() };
    let mut mismatches = MismatchCounts::default();
    let mut theirs = candidate.cases.iter().peekable();
    for case in &base.cases {
        let key = crate::facts::case_key(case, names);
        while theirs.next_if(|other| crate::facts::case_key(other, names) < key).is_some() {}

        let same = theirs.next_if(|other| crate::facts::case_key(other, names) == key);
        let Some(same) = same else { continue };
        mismatches.compare_pair(case, same, names);
        if let Some((before, after)) = figure(case).zip(figure(same)) {
            sample.push(before, after, case.cluster);
        }
    }

    let (_, withheld) = mismatches.into_parts(options.allowed, names);
    (sample, withheld.reason(part))
}

impl MetricDifference {
    /// Returns the comparison with the two sides exchanged.
    fn swap_sides(&self, options: &ComparisonOptions) -> Self {
        let mut turned = Self {
            base: self.candidate,
            candidate: self.base,
            higher: self.lower,
            lower: self.higher,
            difference: self.difference.map(|difference| 0.0 - difference),
            low: self.high.map(|high| 0.0 - high),
            high: self.low.map(|low| 0.0 - low),
            ..self.clone()
        };

        turned.conclude(options);
        turned
    }
}
