//! Comparability of two runs: same questions, rubrics and judging.
//!
//! If something other than the answers changed between two runs, some of their metrics no longer compare the
//! answers. Refusing the whole comparison would be too much: a raised threshold changes no score, and a
//! reworded criterion does not affect the other criteria. Users who are refused too often allow all
//! differences, and then no check is left. So each difference is noted together with the metrics that it
//! touches, and only these are withheld.
//!
//! Which metrics a difference touches follows from how scores are computed: a score is a weighted mean, so
//! gates and thresholds touch verdicts only; the weights of criteria touch their grader, but a grader's own
//! weight touches only the case. The exception is a composite that counts passing members, where gates and
//! thresholds change scores too. A withheld metric has no numbers at all, not even one for each side, because
//! two numbers side by side are a comparison. A value that a run did not store never counts as a difference.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::aspect::ComparisonAspect;
use super::touched::{AllowedAspects, MetricPart, TouchedMetrics, WithheldMetrics};
use crate::facts::{CaseFact, CriterionFact, GraderFact, NameTable};

/// An aspect in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunMismatch {
    /// The aspect.
    #[serde(rename = "respect")]
    pub aspect: ComparisonAspect,
    /// Number of pairs of cases with the difference.
    pub cases: usize,
    /// Id of the first such case.
    pub first_case: String,
    /// Value in the base, as far as it can be named.
    pub base: String,
    /// Value in the candidate.
    pub candidate: String,
    /// Metrics that it touches, such as `pass rate` or a criterion.
    pub touches: Vec<String>,
    /// Number of these cases whose input the candidate has under another id. Ids that are row numbers move with rows
    /// that are added or removed.
    pub moved: usize,
    /// True if the user allowed it; the metrics that it touches are then compared anyway.
    pub allowed: bool,
}

/// Maximum number of touched metrics that are named; the rest is counted.
const MAX_TOUCHED: usize = 6;

impl RunMismatch {
    /// Describes the mismatch in one line: the difference, the number of cases with it (out of `common`), and the metrics
    /// that are therefore not compared.
    pub fn describe(&self, common: usize) -> String {
        let Self { aspect, cases, first_case, base, candidate, .. } = self;
        let how = if base.is_empty() { String::new() } else { format!(": {base} / {candidate}") };
        let touched = self.describe_touched();
        format!("in {cases} of {common} cases {}, first in `{first_case}`{how}; {touched}", aspect.describe())
    }

    /// Names the metrics that it touches, and says that they are not compared unless it was allowed.
    pub fn describe_touched(&self) -> String {
        let mut names = self.touches.iter().take(MAX_TOUCHED).cloned().collect::<Vec<_>>().join(", ");
        if self.touches.len() > MAX_TOUCHED {
            names = format!("{names} and {} more", self.touches.len() - MAX_TOUCHED);
        }

        if self.allowed { format!("touches {names}") } else { format!("not compared: {names}") }
    }
}

/// Reads the number of a name from a criterion.
type NameField = fn(&CriterionFact) -> u32;

/// A difference between the two sides of a case.
struct CaseDifference {
    aspect: ComparisonAspect,
    base: String,
    candidate: String,
    touched: Vec<MetricPart>,
}

#[derive(Debug)]
struct AspectCount {
    mismatch: RunMismatch,
    touched: TouchedMetrics,
}

/// Counted mismatches.
#[derive(Debug, Default)]
pub(crate) struct MismatchCounts {
    /// One entry per aspect.
    aspects: [Option<AspectCount>; ComparisonAspect::ALL.len()],
    /// Inputs of the base and of the candidate that differ under an id that is a row number.
    numbered: [HashSet<u64>; 2],
}

impl MismatchCounts {
    /// Compares a pair of cases. Data that a run did not store is not compared.
    pub(crate) fn compare_pair(&mut self, base: &CaseFact, candidate: &CaseFact, names: &NameTable) {
        if let Some((ours, theirs)) = base.question.zip(candidate.question).filter(|(a, b)| a != b) {
            if assize_rubric::is_numbered_case_id(names.text(base.case)) {
                self.numbered[0].insert(ours);
                self.numbered[1].insert(theirs);
            }
            let (nothing, touched) = (String::new(), vec![MetricPart::Everything]);
            let aspect = ComparisonAspect::Question;
            let difference = CaseDifference { aspect, base: nothing.clone(), candidate: nothing, touched };
            self.add(difference, base, names);
        }

        if let Some((a, b)) = base.thresholds.zip(candidate.thresholds).filter(|(a, b)| a != b) {
            let (ours, theirs) = (names.text(a).to_owned(), names.text(b).to_owned());
            let mut touched = vec![MetricPart::PassRate];
            for grader in base.graders.iter().filter(|grader| counts_verdicts(grader)) {
                touched.extend(parts_of_grader(grader.name));
            }

            let aspect = ComparisonAspect::Thresholds;
            self.add(CaseDifference { aspect, base: ours, candidate: theirs, touched }, base, names);
        }

        // A case that was not graded has no graders to compare.
        if base.graders.is_empty() || candidate.graders.is_empty() {
            return;
        }

        let mut changes = grader_changes(base, candidate, names);
        changes.extend(rubric_changes(base, candidate, names));
        let mut changes = changes.into_iter();
        // Only the first change is named, but the metrics that any of them touches count.
        if let Some(mut first) = changes.next() {
            first.touched.extend(changes.flat_map(|change| change.touched));
            self.add(first, base, names);
        }

        let parts: [(ComparisonAspect, NameField); 3] = [
            (ComparisonAspect::Judge, |criterion| criterion.judge),
            (ComparisonAspect::Prompt, |criterion| criterion.prompt),
            (ComparisonAspect::Judging, |criterion| criterion.judging),
        ];
        for (aspect, part) in parts {
            let differing: Vec<_> = shared_criteria(base, candidate)
                .filter(|(a, b)| {
                    let (a, b) = (part(a), part(b));
                    a != b && !names.text(a).is_empty() && !names.text(b).is_empty()
                })
                .collect();
            let Some((a, b)) = differing.first() else { continue };
            let describe = |criterion| names.text(part(criterion)).to_owned();
            let (ours, theirs) = (describe(a), describe(b));
            let touched = differing.iter().flat_map(|(a, _)| parts_of_criterion(a)).collect();
            self.add(CaseDifference { aspect, base: ours, candidate: theirs, touched }, base, names);
        }
    }

    fn add(&mut self, difference: CaseDifference, case: &CaseFact, names: &NameTable) {
        let CaseDifference { aspect, base, candidate, touched } = difference;
        let count = self.aspects[aspect as usize].get_or_insert_with(|| AspectCount {
            mismatch: RunMismatch {
                aspect,
                cases: 0,
                first_case: names.text(case.case).to_owned(),
                base,
                candidate,
                touches: Vec::new(),
                moved: 0,
                allowed: false,
            },
            touched: TouchedMetrics::default(),
        });

        count.mismatch.cases += 1;
        for part in touched {
            count.touched.add(part, case);
        }
    }

    /// Returns the mismatches, and the metrics touched by mismatches that are not `allowed`.
    pub(crate) fn into_parts(
        self,
        allowed: AllowedAspects,
        names: &NameTable,
    ) -> (Vec<RunMismatch>, WithheldMetrics) {
        let mut withheld = WithheldMetrics::default();
        let [ours, theirs] = &self.numbered;
        let moved = ours.intersection(theirs).count();
        let found = self.aspects.into_iter().flatten().map(|AspectCount { mut mismatch, touched }| {
            mismatch.touches = touched.describe(names);
            mismatch.allowed = allowed.contains(mismatch.aspect);
            if mismatch.aspect == ComparisonAspect::Question {
                mismatch.moved = moved;
            }
            if !mismatch.allowed {
                withheld.add(mismatch.aspect, touched);
            }

            mismatch
        });

        (found.collect(), withheld)
    }
}

fn counts_verdicts(grader: &GraderFact) -> bool {
    grader.weighting.is_some_and(|weighting| weighting.counts_verdicts)
}

/// The metrics that depend on the result of a grader.
fn parts_of_grader(grader: u32) -> [MetricPart; 3] {
    [MetricPart::PassRate, MetricPart::Score, MetricPart::Grader(grader)]
}

/// The metrics that depend on the decision on a criterion.
fn parts_of_criterion(criterion: &CriterionFact) -> impl Iterator<Item = MetricPart> {
    let own = MetricPart::Criterion(criterion.grader, criterion.id, criterion.wording);
    parts_of_grader(criterion.grader).into_iter().chain([own])
}

/// Iterates over the criteria that both sides have, matched by grader and id.
pub(crate) fn shared_criteria<'c>(
    base: &'c CaseFact,
    candidate: &'c CaseFact,
) -> impl Iterator<Item = (&'c CriterionFact, &'c CriterionFact)> {
    base.criteria.iter().enumerate().filter_map(|(at, criterion)| {
        let same = |other: &&CriterionFact| other.grader == criterion.grader && other.id == criterion.id;
        // It is nearly always at the same index.
        let there = candidate.criteria.get(at).filter(same);
        there.or_else(|| candidate.criteria.iter().find(same)).map(|other| (criterion, other))
    })
}

/// Finds graders that only one side has, or that differ in weight, gate, members or settings.
fn grader_changes(base: &CaseFact, candidate: &CaseFact, names: &NameTable) -> Vec<CaseDifference> {
    let aspect = ComparisonAspect::Rubric;
    let mut found = Vec::new();
    for (ours, theirs, is_base) in [(base, candidate, true), (candidate, base, false)] {
        let lost = ours.graders.iter().filter(|grader| {
            grader.weighting.is_some() && theirs.graders.iter().all(|other| other.name != grader.name)
        });
        for grader in lost {
            let sides = (format!("grader `{}`", names.text(grader.name)), "no such grader".to_owned());
            let (base, candidate) = if is_base { sides } else { (sides.1, sides.0) };
            found.push(CaseDifference { aspect, base, candidate, touched: parts_of_case().to_vec() });
        }
    }

    for grader in &base.graders {
        let Some(other) = candidate.graders.iter().find(|other| other.name == grader.name) else { continue };
        let mut change = |what: &str, touched: Vec<MetricPart>| {
            let base = format!("grader `{}`", names.text(grader.name));
            found.push(CaseDifference { aspect, base, candidate: format!("the same with {what}"), touched });
        };
        if let Some((a, b)) = grader.weighting.zip(other.weighting) {
            if a.composition != b.composition {
                change("other members, or negated", parts_of_grader(grader.name).to_vec());
            }
            if a.weight != b.weight {
                change("another weight", parts_of_case().to_vec());
            }
            if a.gate != b.gate {
                change("another gate", vec![MetricPart::PassRate]);
            }
        }

        if grader.settings.zip(other.settings).is_some_and(|(a, b)| a != b) {
            let own = base.criteria.iter().filter(|criterion| criterion.grader == grader.name);
            let touched = own.flat_map(parts_of_criterion).chain(parts_of_grader(grader.name));
            change("other settings", touched.collect());
        }
    }

    found
}

/// The metrics of the case as a whole.
const fn parts_of_case() -> [MetricPart; 2] {
    [MetricPart::PassRate, MetricPart::Score]
}

/// Finds criteria that only one side has, or that differ in wording, weight or gate.
fn rubric_changes(base: &CaseFact, candidate: &CaseFact, names: &NameTable) -> Vec<CaseDifference> {
    let aspect = ComparisonAspect::Rubric;
    let mut found = Vec::new();
    let mut both = 0;
    let mut change = |id: u32, what: &str, touched: Vec<MetricPart>| {
        let base = format!("`{}`", names.text(id));
        found.push(CaseDifference { aspect, base, candidate: format!("the same id with {what}"), touched });
    };
    for (a, b) in shared_criteria(base, candidate).filter(|(a, b)| a.is_fixed && b.is_fixed) {
        both += 1;

        if a.wording != b.wording {
            change(a.id, "other words", parts_of_criterion(a).collect());
        }
        if a.weight != b.weight {
            change(a.id, "another weight", parts_of_grader(a.grader).to_vec());
        }
        if a.gate != b.gate {
            let grader = base.graders.iter().find(|grader| grader.name == a.grader);
            let touched = if grader.is_some_and(counts_verdicts) {
                parts_of_grader(a.grader).to_vec()
            } else {
                vec![MetricPart::PassRate]
            };
            change(a.id, "another gate", touched);
        }
    }

    // A grader that failed on one side has no criteria there; the rubric is still the same.
    let graded = |case: &CaseFact, other: &CaseFact| -> Vec<u32> {
        let is_shared = |criterion: &&CriterionFact| {
            criterion.is_fixed && other.criteria.iter().any(|theirs| theirs.grader == criterion.grader)
        };
        case.criteria.iter().filter(is_shared).map(|criterion| criterion.grader).collect()
    };

    let (ours, theirs) = (graded(base, candidate), graded(candidate, base));
    if ours.len() != both || theirs.len() != both {
        let count = |graders: &[u32], grader: u32| graders.iter().filter(|one| **one == grader).count();
        let names: BTreeSet<u32> = ours.iter().chain(&theirs).copied().collect();
        let shared: Vec<u32> = shared_criteria(base, candidate)
            .filter(|(a, b)| a.is_fixed && b.is_fixed)
            .map(|(a, _)| a.grader)
            .collect();
        let touched = names
            .into_iter()
            .filter(|grader| {
                let both = count(&shared, *grader);
                count(&ours, *grader) != both || count(&theirs, *grader) != both
            })
            .flat_map(parts_of_grader);
        found.push(CaseDifference {
            aspect,
            base: format!("{} criteria", ours.len()),
            candidate: format!("{} criteria, {both} of them shared", theirs.len()),
            touched: touched.collect(),
        });
    }

    found
}
