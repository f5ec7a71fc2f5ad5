//! Comparability of two runs: same questions, rubrics and judging.

use serde::Serialize;

use crate::facts::{CaseFact, CriterionFact, NameTable};

assize_rubric::named_enum! {
    /// Aspect in which two runs differ although only the answers should.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    pub enum ComparisonAspect {
        /// Input or expectation of a case.
        Question = "question",
        /// Text, scale, weight, gate or settings of criteria or graders, or the set of them.
        Rubric = "rubric",
        /// The judge.
        Judge = "judge",
        /// Instructions of the judge.
        Prompt = "prompt",
        /// Number of criteria in one call.
        Judging = "judging",
        /// Thresholds of verdicts.
        Thresholds = "thresholds",
    }
}

impl ComparisonAspect {
    /// Describes the difference in words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Question => "the input or the expectations differ",
            Self::Rubric => "the graders or criteria, their settings, weights or gates differ",
            Self::Judge => "the judge differs",
            Self::Prompt => "the judge's prompt differs",
            Self::Judging => "the number of criteria per call differs",
            Self::Thresholds => "the thresholds differ",
        }
    }
}

/// An aspect in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunMismatch {
    /// The aspect.
    pub respect: ComparisonAspect,
    /// Number of pairs of cases with the difference.
    pub cases: usize,
    /// Id of the first such case.
    pub first_case: String,
    /// Value in the base, as far as it can be named.
    pub base: String,
    /// Value in the candidate.
    pub candidate: String,
}

/// Accessor of a criterion field that holds a name.
type NameField = fn(&CriterionFact) -> u32;

/// Counted mismatches, one entry per aspect.
#[derive(Debug, Default)]
pub(crate) struct MismatchCounts([Option<RunMismatch>; ComparisonAspect::ALL.len()]);

impl MismatchCounts {
    /// Compares a pair of cases. Data that a run did not store is not compared.
    pub(crate) fn compare_pair(&mut self, base: &CaseFact, candidate: &CaseFact, names: &NameTable) {
        if base.question.zip(candidate.question).is_some_and(|(a, b)| a != b) {
            self.add(ComparisonAspect::Question, base, names, String::new(), String::new());
        }

        if let Some((a, b)) = base.lines.zip(candidate.lines).filter(|(a, b)| a != b) {
            self.add(
                ComparisonAspect::Thresholds,
                base,
                names,
                names.text(a).to_owned(),
                names.text(b).to_owned(),
            );
        }

        // A case that was not graded has no graders to compare.
        if base.graders.is_empty() || candidate.graders.is_empty() {
            return;
        }
        let change = find_grader_change(base, candidate, names)
            .or_else(|| find_rubric_change(base, candidate, names))
            .or_else(|| find_settings_change(base, candidate, names));
        if let Some((a, b)) = change {
            self.add(ComparisonAspect::Rubric, base, names, a, b);
        }

        let parts: [(ComparisonAspect, NameField); 3] = [
            (ComparisonAspect::Judge, |criterion| criterion.judge),
            (ComparisonAspect::Prompt, |criterion| criterion.prompt),
            (ComparisonAspect::Judging, |criterion| criterion.judging),
        ];
        for (respect, part) in parts {
            let differing = shared_criteria(base, candidate).find(|(a, b)| {
                let (a, b) = (part(a), part(b));
                a != b && !names.text(a).is_empty() && !names.text(b).is_empty()
            });
            if let Some((a, b)) = differing {
                let said = |criterion| names.text(part(criterion)).to_owned();
                self.add(respect, base, names, said(a), said(b));
            }
        }
    }

    fn add(
        &mut self,
        respect: ComparisonAspect,
        case: &CaseFact,
        names: &NameTable,
        base: String,
        candidate: String,
    ) {
        let first = || RunMismatch {
            respect,
            cases: 0,
            first_case: names.text(case.case).to_owned(),
            base,
            candidate,
        };
        self.0[respect as usize].get_or_insert_with(first).cases += 1;
    }

    pub(crate) fn into_list(self) -> Vec<RunMismatch> {
        self.0.into_iter().flatten().collect()
    }
}

/// Iterates over the criteria that both sides have, matched by grader and id.
pub(crate) fn shared_criteria<'c>(
    base: &'c CaseFact,
    candidate: &'c CaseFact,
) -> impl Iterator<Item = (&'c CriterionFact, &'c CriterionFact)> {
    base.criteria.iter().enumerate().filter_map(|(at, criterion)| {
        let same = |other: &&CriterionFact| other.grader == criterion.grader && other.id == criterion.id;
        // Nearly always it is at the same index.
        let there = candidate.criteria.get(at).filter(same);
        there.or_else(|| candidate.criteria.iter().find(same)).map(|other| (criterion, other))
    })
}

/// Finds a grader that only one side has, or that weighs or gates otherwise.
fn find_grader_change(base: &CaseFact, candidate: &CaseFact, names: &NameTable) -> Option<(String, String)> {
    for (ours, theirs, is_base) in [(base, candidate, true), (candidate, base, false)] {
        let lost = ours.graders.iter().find(|grader| {
            grader.standing.is_some() && theirs.graders.iter().all(|other| other.name != grader.name)
        });
        if let Some(grader) = lost {
            let sides = (format!("grader `{}`", names.text(grader.name)), "no such grader".to_owned());
            return Some(if is_base { sides } else { (sides.1, sides.0) });
        }
    }

    base.graders.iter().find_map(|grader| {
        let other = candidate.graders.iter().find(|other| other.name == grader.name)?;
        let differs = grader.standing.zip(other.standing).is_some_and(|(a, b)| a != b);

        differs.then(|| {
            (
                format!("grader `{}`", names.text(grader.name)),
                "the same with another weight or gate".to_owned(),
            )
        })
    })
}

/// Finds a grader whose settings differ, such as the schema or the limit of a check.
fn find_settings_change(
    base: &CaseFact,
    candidate: &CaseFact,
    names: &NameTable,
) -> Option<(String, String)> {
    base.graders.iter().find_map(|grader| {
        let other = candidate.graders.iter().find(|other| other.name == grader.name)?;
        let differs = grader.settings.zip(other.settings).is_some_and(|(a, b)| a != b);

        differs.then(|| {
            (format!("grader `{}`", names.text(grader.name)), "the same with other settings".to_owned())
        })
    })
}

fn find_rubric_change(base: &CaseFact, candidate: &CaseFact, names: &NameTable) -> Option<(String, String)> {
    let mut both = 0;
    for (a, b) in shared_criteria(base, candidate).filter(|(a, b)| a.is_fixed && b.is_fixed) {
        both += 1;

        if a.wording != b.wording {
            return Some((format!("`{}`", names.text(a.id)), "the same id with other words".to_owned()));
        }

        if a.standing != b.standing {
            return Some((
                format!("`{}`", names.text(a.id)),
                "the same with another weight or gate".to_owned(),
            ));
        }
    }

    // A grader that failed on one side has no criteria there; that does not make it another rubric.
    let graded = |case: &CaseFact, other: &CaseFact| {
        case.criteria
            .iter()
            .filter(|criterion| criterion.is_fixed)
            .filter(|criterion| other.criteria.iter().any(|theirs| theirs.grader == criterion.grader))
            .count()
    };

    let (ours, theirs) = (graded(base, candidate), graded(candidate, base));
    (ours != both || theirs != both)
        .then(|| (format!("{ours} criteria"), format!("{theirs} criteria, {both} of them shared")))
}
