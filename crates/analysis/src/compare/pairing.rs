//! Pairing of cases by suite, id and trial, and comparison of the pairs.

use std::cmp::Ordering;

use serde::Serialize;

use super::flips::{VerdictFlip, name_with_trial};
use super::metric_difference::{Conclusion, MetricDifference, PairSample, compare_metric};
use super::mismatch::{MismatchCounts, RunMismatch};
use super::tables::{ComparisonTable, GroupedPairs};
use super::touched::{MetricPart, WithheldMetrics};
use super::unknown::{UnknownCounts, UnknownPairs};
use super::{AnytimeComparison, ComparisonOptions, HeadlineMetric, MetricUnit};
use crate::facts::{CaseFact, NameTable, RunFacts, case_key};

/// Identity of a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CaseName {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case; of its test, if that has several prompts.
    pub case_id: String,
    /// Name of the prompt, if the runs have several and none was selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Number of the trial.
    #[serde(rename = "repeat")]
    pub trial: u32,
}

impl CaseName {
    /// Returns the name without the suite, with the trial if it is not the first.
    pub fn name(&self) -> String {
        name_with_trial(&self.case_id, self.prompt.as_deref(), self.trial)
    }
}

/// A case that both sides have and that is incomplete on at least one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncompletePair {
    /// Identity of the case.
    #[serde(flatten)]
    pub name: CaseName,
    /// True if it passed in the base; null if incomplete.
    pub base_passed: Option<bool>,
    /// True if it passed in the candidate; null if incomplete.
    pub candidate_passed: Option<bool>,
}

/// Cases whose verdict is the same on both sides but whose score changed, the largest changes first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreShifts {
    /// Number of cases whose score is lower in the candidate.
    pub lower_count: usize,
    /// The first of these, at most [`MAX_SHIFTS`](Self::MAX_SHIFTS).
    pub lower: Vec<VerdictFlip>,
    /// Number of cases whose score is higher in the candidate.
    pub higher_count: usize,
    /// The first of these, at most [`MAX_SHIFTS`](Self::MAX_SHIFTS).
    pub higher: Vec<VerdictFlip>,
}

impl ScoreShifts {
    /// Maximum number of cases kept in each direction.
    pub const MAX_SHIFTS: usize = 200;

    fn new(mut moved: Vec<(f64, &CaseFact, &CaseFact)>, names: &NameTable) -> Self {
        // The sort is stable, so ties keep the order of the cases.
        moved.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let is_lower = |change: f64| change < 0.0;
        let lower_count = moved.partition_point(|(change, ..)| is_lower(*change));
        let (lower, higher) = moved.split_at(lower_count);
        let flip = |(_, a, b): &(f64, &CaseFact, &CaseFact)| VerdictFlip::new(a, b, names);

        Self {
            lower_count,
            lower: lower.iter().take(Self::MAX_SHIFTS).map(flip).collect(),
            higher_count: higher.len(),
            higher: higher.iter().rev().take(Self::MAX_SHIFTS).map(flip).collect(),
        }
    }
}

/// Comparison of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// Name of the base.
    pub base: String,
    /// Name of the candidate.
    pub candidate: String,
    /// Result of the run of the base in one line, with what blocks, limits or weakens it.
    pub base_result: String,
    /// Result of the run of the candidate.
    pub candidate_result: String,
    /// Number of cases that both have.
    pub common: usize,
    /// Aspects in which the two runs differ although only the answers should.
    pub mismatches: Vec<RunMismatch>,
    /// Metric on which [`verdict`](Self::verdict) is based.
    pub headline: HeadlineMetric,
    /// Overall conclusion.
    pub verdict: Conclusion,
    /// Share of cases that passed, over pairs decided on both sides.
    pub pass_rate: MetricDifference,
    /// Mean score, over pairs with a score on both sides.
    pub score: MetricDifference,
    /// Lowest and highest change of the mean score over all cases of the base, for all possible scores of
    /// incomplete and missing cases; null if every case is decided.
    pub score_bounds: Option<[f64; 2]>,
    /// Tables by suite, tag, grader and criterion, each with two rows or more.
    pub tables: Vec<ComparisonTable>,
    /// Cases that passed and no longer do. Like the next list, it is empty if the pass rate is not
    /// comparable.
    pub regressions: Vec<VerdictFlip>,
    /// Cases that did not pass and do now.
    pub improvements: Vec<VerdictFlip>,
    /// Cases whose score changed while their verdict did not. Not in `--json`, where the rows have all
    /// scores.
    #[serde(skip)]
    pub shifts: ScoreShifts,
    /// Cases that are incomplete on at least one side, which are excluded from the pass rates.
    pub incomplete: Vec<IncompletePair>,
    /// Cases that only the candidate has.
    pub new: Vec<CaseName>,
    /// Cases that only the base has.
    pub gone: Vec<CaseName>,
    /// Number of missing cases that passed in the base.
    pub gone_passed: usize,
    /// Cases of the base without a known result on one of the sides.
    pub unknown: UnknownPairs,
    /// True if cases are trials of each other or share their origin, so that errors are computed over
    /// clusters.
    pub clustered: bool,
    /// True if judges decided on criteria, so that their errors are part of the comparison.
    pub by_judges: bool,
}

impl RunComparison {
    /// Returns the comparison of the headline metric.
    pub fn headline_difference(&self) -> &MetricDifference {
        match self.headline {
            HeadlineMetric::Score => &self.score,
            HeadlineMetric::PassRate => &self.pass_rate,
        }
    }

    /// Takes the interval of a metric from a comparison that holds at any time, if one of the runs stopped because its result was
    /// clear.
    pub fn use_anytime(
        &mut self,
        metric: HeadlineMetric,
        found: &AnytimeComparison,
        options: &ComparisonOptions,
    ) {
        let difference = match metric {
            HeadlineMetric::Score => &mut self.score,
            HeadlineMetric::PassRate => &mut self.pass_rate,
        };
        difference.use_anytime(found, options);
        self.update_verdict();
    }

    /// Updates the overall conclusion after the headline metric changed.
    pub(crate) fn update_verdict(&mut self) {
        self.verdict = self.headline_difference().call;
    }
}

/// Alignment of the sorted cases of two runs.
pub(super) enum CaseAlignment<'f> {
    Both(&'f CaseFact, &'f CaseFact),
    OnlyBase(&'f CaseFact),
    OnlyCandidate(&'f CaseFact),
}

/// Merges two sorted runs.
pub(super) fn align_cases<'f>(
    base: &'f RunFacts,
    candidate: &'f RunFacts,
    names: &NameTable,
) -> Vec<CaseAlignment<'f>> {
    let (mut ours, mut theirs) = (base.cases.iter().peekable(), candidate.cases.iter().peekable());
    let mut found = Vec::with_capacity(base.cases.len().max(candidate.cases.len()));
    loop {
        let order = match (ours.peek(), theirs.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => case_key(a, names).cmp(&case_key(b, names)),
        };

        let next = match order {
            Ordering::Less => ours.next().map(CaseAlignment::OnlyBase),
            Ordering::Greater => theirs.next().map(CaseAlignment::OnlyCandidate),
            Ordering::Equal => ours.next().zip(theirs.next()).map(|(a, b)| CaseAlignment::Both(a, b)),
        };
        found.extend(next);
    }
}

/// Pairs of verdicts, and the cases whose verdict changed or is unknown.
#[derive(Default)]
struct VerdictPairs {
    passes: PairSample,
    regressions: Vec<VerdictFlip>,
    improvements: Vec<VerdictFlip>,
    undecided: Vec<IncompletePair>,
}

impl VerdictPairs {
    fn push(&mut self, a: &CaseFact, b: &CaseFact, names: &NameTable) {
        match (a.passed(), b.passed()) {
            (Some(before), Some(after)) => {
                self.passes.push(f64::from(u8::from(before)), f64::from(u8::from(after)), a.cluster);
                match (before, after) {
                    (true, false) => self.regressions.push(VerdictFlip::new(a, b, names)),
                    (false, true) => self.improvements.push(VerdictFlip::new(a, b, names)),
                    _ => {}
                }
            }
            (base_passed, candidate_passed) => {
                let name = case_name(a, names);
                self.undecided.push(IncompletePair { name, base_passed, candidate_passed });
            }
        }
    }
}

/// Compares two runs.
pub fn compare(
    base: &RunFacts,
    candidate: &RunFacts,
    names: &NameTable,
    options: &ComparisonOptions,
) -> RunComparison {
    let options = &options.for_runs(base, candidate);
    let mut mismatches = MismatchCounts::default();
    let (mut verdicts, mut scores) = (VerdictPairs::default(), PairSample::default());
    let [mut suites, mut tags, mut graders, mut criteria] = <[GroupedPairs<'_>; 4]>::default();
    let (mut new, mut gone, mut gone_passed) = (Vec::new(), Vec::new(), 0);
    let (mut common, mut open) = (0usize, false);
    let (mut low, mut high, mut unknown) = (0.0, 0.0, UnknownCounts::default());
    let mut moved = Vec::new();
    for side_by_side in align_cases(base, candidate, names) {
        let (a, b) = match side_by_side {
            CaseAlignment::OnlyBase(case) => {
                gone_passed += usize::from(case.passed() == Some(true));
                unknown.add(case, None);
                (low, high) = (low - case.high, high + 1.0 - case.low);
                gone.push(case_name(case, names));
                continue;
            }
            CaseAlignment::OnlyCandidate(case) => {
                new.push(case_name(case, names));
                continue;
            }
            CaseAlignment::Both(a, b) => (a, b),
        };

        common += 1;
        mismatches.compare_pair(a, b, names);
        unknown.add(a, Some(b));
        low += b.low - a.high;
        high += b.high - a.low;

        verdicts.push(a, b, names);
        if let Some((before, after)) = a.score.zip(b.score) {
            scores.push(before, after, a.cluster);
            if before != after && a.passed() == b.passed() {
                moved.push((after - before, a, b));
            }
            suites.suite((a, b), (before, after), names);
            tags.tags((a, b), (before, after), names);
        } else {
            open = true;
        }

        graders.graders((a, b), names);
        criteria.criteria((a, b), names);
    }

    let all = (common + gone.len()) as f64;
    let (mismatches, withheld) = mismatches.into_parts(options.allowed, names);
    let tables = group_tables([suites, tags, graders, criteria], &withheld, options);

    let compare_or_withhold = |sample: &PairSample, unit, part| match withheld.reason(part) {
        Some(reason) => MetricDifference::withheld(sample.len(), unit, reason, options),
        None => compare_metric(sample, unit, options),
    };
    let pass_rate = compare_or_withhold(&verdicts.passes, MetricUnit::Rate, MetricPart::PassRate);
    let score = compare_or_withhold(&scores, MetricUnit::Score, MetricPart::Score);
    if pass_rate.call == Conclusion::NotComparable {
        verdicts.regressions.clear();
        verdicts.improvements.clear();
    }
    if score.call == Conclusion::NotComparable {
        moved.clear();
    }
    let mut comparison = RunComparison {
        base: base.label.clone(),
        candidate: candidate.label.clone(),
        base_result: base.result.clone(),
        candidate_result: candidate.result.clone(),
        common,
        mismatches,
        headline: options.headline,
        verdict: Conclusion::Inconclusive,
        clustered: score.clusters.is_some() || pass_rate.clusters.is_some(),
        score_bounds: ((open || !gone.is_empty()) && common > 0 && score.call != Conclusion::NotComparable)
            .then(|| [low / all, high / all]),
        pass_rate,
        score,
        tables,
        regressions: verdicts.regressions,
        improvements: verdicts.improvements,
        shifts: ScoreShifts::new(moved, names),
        incomplete: verdicts.undecided,
        new,
        gone,
        gone_passed,
        unknown: unknown.finish(options),
        by_judges: base.has_judges || candidate.has_judges,
    };

    comparison.update_verdict();
    comparison
}

/// Builds the tables by suite, tag, grader and criterion. A table with one row would repeat the total.
fn group_tables(
    [suites, tags, graders, criteria]: [GroupedPairs<'_>; 4],
    withheld: &WithheldMetrics,
    options: &ComparisonOptions,
) -> Vec<ComparisonTable> {
    let tables = [
        suites.table("suite", "score", options, |key| {
            withheld.find(|touched| touched.suites.contains(&key.name))
        }),
        tags.table("tag", "score", options, |key| withheld.find(|touched| touched.tags.contains(&key.name))),
        graders.table("grader", "score", options, |key| withheld.reason(MetricPart::Grader(key.name))),
        criteria.table("criterion", "value", options, |key| {
            let (id, wording) = key.criterion?;
            withheld.reason(MetricPart::Criterion(key.name, id, wording))
        }),
    ];
    let is_shown =
        |table: &ComparisonTable| table.rows.len() + table.too_small > usize::from(table.by != "tag");

    tables.into_iter().filter(is_shown).collect()
}

fn case_name(case: &CaseFact, names: &NameTable) -> CaseName {
    CaseName {
        suite: names.text(case.suite).to_owned(),
        case_id: names.text(case.case).to_owned(),
        prompt: case.prompt.map(|prompt| names.text(prompt).to_owned()),
        trial: case.trial,
    }
}
