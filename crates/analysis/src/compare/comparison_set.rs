//! Several candidates compared with one base and with each other.

use assize_stats::ConfidenceLevel;
use serde::Serialize;

use super::labelled::LabelledDifference;
use super::metric_difference::{MetricDifference, PairSample, compare_metric};
use super::mismatch::MismatchCounts;
use super::pairing::{CaseAlignment, RunComparison, align_cases, compare};
use super::tables::adjust_all;
use super::touched::MetricPart;
use super::{ComparisonAspect, ComparisonOptions, HeadlineMetric};
use crate::case_metrics::format_level;
use crate::claims::alpha_of;
use crate::facts::{NameTable, RunFacts};

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
    /// Caution about the choice of the best candidate; null for a single candidate.
    pub selection: Option<ChosenCandidate>,
    /// Differences corrected by people's labels; empty without labels.
    pub labelled: Vec<LabelledDifference>,
    /// Source of the weights, gates and thresholds that all runs were rescored with; null if they were not
    /// rescored.
    pub rescored_with: Option<String>,
}

impl ComparisonSet {
    /// The differences of a candidate that are corrected by people's labels.
    pub fn labelled_of(&self, comparison: &RunComparison) -> Vec<&LabelledDifference> {
        self.labelled.iter().filter(|found| found.candidate == comparison.candidate).collect()
    }
}

/// The candidate with the best headline metric, compared with the base by an interval that also holds for the best of
/// several: the intervals of all candidates hold at once, so the interval of the chosen one holds too. Conditional
/// intervals are narrower where one candidate is far ahead. Sources: O. J. Dunn, Journal of the American Statistical Association 56
/// (1961), 52-64; I. Andrews, T. Kitagawa and A. McCloskey, "Inference on winners", Quarterly Journal of Economics 139 (2024).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenCandidate {
    /// Name of the candidate; null if no candidate has the metric.
    pub candidate: Option<String>,
    /// Candidate minus base.
    pub difference: Option<f64>,
    /// Lower end of the interval; null if there are too few pairs.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// A sentence with these values.
    pub says: String,
}

/// Advice for users who choose the best of several candidates.
const MEASURE_AGAIN: &str = "The best of several candidates owes part of its lead to chance: measure it again, on new cases, before you rely on its numbers.";

/// Compares the candidate with the highest headline metric with the base, at a level that holds for all candidates at once.
fn choose(
    comparisons: &[RunComparison],
    runs: &[&RunFacts],
    names: &NameTable,
    options: &ComparisonOptions,
) -> ChosenCandidate {
    let gain = |found: &RunComparison| found.headline_difference().difference;
    let compared = comparisons.iter().zip(&runs[1..]).filter(|(found, _)| gain(found).is_some());
    let best = compared.max_by(|(a, _), (b, _)| gain(a).unwrap_or(-1.0).total_cmp(&gain(b).unwrap_or(-1.0)));
    let several = comparisons.len() as f64;
    let Some(((found, run), level)) =
        best.zip(ConfidenceLevel::new(1.0 - alpha_of(options.level) / several).ok())
    else {
        let says = MEASURE_AGAIN.to_owned();
        return ChosenCandidate { candidate: None, difference: None, low: None, high: None, says };
    };

    let unit = options.headline.unit();
    let own = ComparisonOptions { level, margin: None, ..options.for_runs(runs[0], run) };
    let (pairs, reason) = headline_pairs(runs[0], run, names, &own);
    let chosen = match reason {
        Some(reason) => MetricDifference::withheld(pairs.len(), unit, reason, &own),
        None => compare_metric(&pairs, unit, &own),
    };
    let range = chosen.low.zip(chosen.high).map(|(low, high)| {
        format!(
            " ({} CI {}, which holds for the best of {})",
            format_level(options.level),
            unit.format_interval(low, high),
            comparisons.len()
        )
    });
    let lead = chosen.difference.map_or_else(String::new, |change| unit.format_change(change));
    ChosenCandidate {
        candidate: Some(found.candidate.clone()),
        difference: chosen.difference,
        low: chosen.low,
        high: chosen.high,
        says: format!(
            "`{}` has the best {} of the candidates: {lead} against the base{}. {MEASURE_AGAIN}",
            found.candidate,
            options.headline.name(),
            range.unwrap_or_else(|| ", without an interval".to_owned())
        ),
    }
}

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
        selection: (comparisons.len() > 1).then(|| choose(&comparisons, &runs, names, options)),
        comparisons,
        runs: runs.iter().map(|run| run.label.clone()).collect(),
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
    let unit = options.headline.unit();
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
    let mut sample = PairSample::default();
    let mut mismatches = MismatchCounts::default();
    for aligned in align_cases(base, candidate, names) {
        let CaseAlignment::Both(case, same) = aligned else { continue };
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
