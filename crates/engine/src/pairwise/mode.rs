//! The cases of a comparison: one for each case and each pair of systems that answered it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_analysis::pairwise::{PairwiseMatches, PairwiseReport, pairwise_report};
use assize_analysis::{ExitStatus, RunEnding, exit_of_run};
use assize_model::{
    Case, CaseId, GivenOutput, Grader, GraderKind, PairwiseBaseline, PairwiseGrader, PanelSpec, Suite,
};
use assize_rubric::{Criterion, GraderWeighting, PairScores};
use assize_run::hash_case;
use assize_stats::ConfidenceLevel;
use assize_stats::ranking::TieRule;
use assize_store::{RunFolder, RunInfo, VerdictCounts};
use serde_json::Value;

use super::system::{AnswerSet, MissingAnswer};
use crate::error::EngineError;
use crate::mode::RunMode;

/// Name of the command, and of stored comparisons.
pub(crate) const COMMAND: &str = "pairwise";
/// Settings in the record of a run: names of its systems, rule for ties, missing answers.
const SYSTEMS_KEY: &str = "systems";
const TIES_KEY: &str = "rank_ties";
const MISSING_KEY: &str = "missing";
/// The most case ids that a message lists; further ones are only counted.
const MAX_LISTED_CASES: usize = 3;

/// A run that compares systems.
pub struct PairwiseRun {
    pub(crate) systems: Vec<AnswerSet>,
    pub(crate) criteria: Vec<String>,
    pub(crate) ties: TieRule,
    /// True if only some cases are selected.
    pub(crate) selective: bool,
    /// Missing answers, and the cases so far.
    pub(crate) found: RefCell<MissingAnswers>,
}

/// Answers that are missing, and the cases so far.
#[derive(Debug, Default)]
pub(crate) struct MissingAnswers {
    lacking: BTreeSet<(usize, MissingAnswer, String)>,
    seen: BTreeSet<(String, String)>,
}

impl PairwiseRun {
    /// Builds a case for every pair of systems that answered this case, and for every trial.
    fn pairs(&self, suite: &Suite, case: &Arc<Case>) -> Result<Vec<Arc<Case>>, EngineError> {
        let (hash, question) = (hash_case(case), case.question());
        let mut found = self.found.borrow_mut();
        found.seen.insert((suite.name.clone(), case.id.to_string()));

        let mut made = Vec::new();
        for trial in 1.. {
            let mut answers: Vec<Option<String>> = Vec::with_capacity(self.systems.len());
            for (at, system) in self.systems.iter().enumerate() {
                let answer = system.answer(&suite.name, case.id.as_str(), trial, &hash, &question)?;
                if let (Err(lack), 1) = (&answer, trial) {
                    found.lacking.insert((at, *lack, case.id.to_string()));
                }
                answers.push(answer.ok());
            }

            if answers.iter().all(Option::is_none) {
                break;
            }

            for (first, candidate) in answers.iter().enumerate() {
                for (second, baseline) in answers.iter().enumerate().skip(first + 1) {
                    if let (Some(candidate), Some(baseline)) = (candidate, baseline) {
                        made.push(self.pair(case, first, second, candidate, baseline, trial));
                    }
                }
            }
        }

        Ok(made)
    }

    fn pair(
        &self,
        case: &Case,
        first: usize,
        second: usize,
        candidate: &str,
        baseline: &str,
        trial: u32,
    ) -> Arc<Case> {
        let baseline = PairwiseBaseline::Run {
            written: self.systems[second].name.clone(),
            folder: None,
            answer: Some(Ok(baseline.into())),
        };
        let grader = Grader {
            name: COMMAND.to_owned(),
            type_name: COMMAND.to_owned(),
            weighting: GraderWeighting::default(),
            place: case.place.clone(),
            kind: GraderKind::Pairwise(PairwiseGrader {
                baseline,
                criteria: Criterion::checklists(self.criteria.iter().cloned()),
                judge: None,
                panel: PanelSpec::default(),
                scores: PairScores::default(),
            }),
        };

        let suffix = comparison_suffix(&self.systems[first].name, &self.systems[second].name, trial);
        Arc::new(Case {
            id: CaseId::new(format!("{}{suffix}", case.id)),
            output: Some(GivenOutput::Text(candidate.to_owned())),
            graders: vec![Arc::new(grader)],
            targets: Vec::new(),
            depends_on: Vec::new(),
            conversation: None,
            workspace: None,
            trials: None,
            file_changes: None,
            unbuilt: Vec::new(),
            unrun_code: Vec::new(),
            ..case.clone()
        })
    }

    /// Sentences about the cases that can't be compared.
    pub(crate) fn missing(&self) -> Vec<String> {
        let found = self.found.borrow();
        let mut groups: BTreeMap<(usize, MissingAnswer), Vec<&str>> = BTreeMap::new();
        for (at, lack, case) in &found.lacking {
            groups.entry((*at, *lack)).or_default().push(case);
        }

        let mut lines: Vec<String> = groups
            .iter()
            .map(|((at, lack), cases)| {
                let name = &self.systems[*at].name;
                match lack {
                    MissingAnswer::NoAnswer => format!("`{name}` has no answer to {}.", format_cases(cases)),
                    MissingAnswer::OtherQuestion => {
                        format!("`{name}` has a different question for {}.", format_cases(cases))
                    }
                }
            })
            .collect();
        for system in self.systems.iter().filter(|_| !self.selective) {
            let cases = system.cases();
            let gone: Vec<&str> = cases
                .iter()
                .filter(|(suite, case)| {
                    !found.seen.iter().any(|(suite_name, id)| {
                        id == case && suite.as_ref().is_none_or(|suite| suite == suite_name)
                    })
                })
                .map(|(_, case)| case.as_str())
                .collect();
            if !gone.is_empty() {
                lines.push(format!(
                    "`{}` has answers to {}, which the suite does not contain.",
                    system.name,
                    format_cases(&gone)
                ));
            }
        }

        lines
    }

    fn rule(&self) -> &'static str {
        match self.ties {
            TieRule::HalfWin => "half",
            TieRule::Davidson => "davidson",
        }
    }
}

/// Formats `1 case (a)`, or `12 cases (a, b, c, ...)`.
fn format_cases(cases: &[&str]) -> String {
    let first = cases.iter().take(MAX_LISTED_CASES).copied().collect::<Vec<_>>().join(", ");
    let more = if cases.len() > MAX_LISTED_CASES { ", ..." } else { "" };
    format!("{} case{} ({first}{more})", cases.len(), if cases.len() == 1 { "" } else { "s" })
}

/// The suffix of the id of a case on which two systems are compared.
fn comparison_suffix(first: &str, second: &str, trial: u32) -> String {
    let times = if trial > 1 { format!("#{trial}") } else { String::new() };
    format!("@{first}:{second}{times}")
}

/// Splits an id into the case and the two systems.
fn split_comparison_id<'i>(id: &'i str, systems: &[String]) -> Option<(&'i str, (usize, usize))> {
    let whole = id.rsplit_once('#').filter(|(_, trial)| trial.parse::<u32>().is_ok());
    let candidates = std::iter::once(id).chain(whole.map(|(id, _)| id));
    candidates
        .flat_map(|id| {
            let pairs = (0..systems.len()).flat_map(|a| (a + 1..systems.len()).map(move |b| (a, b)));
            pairs.filter_map(move |(a, b)| {
                let case = id.strip_suffix(&comparison_suffix(&systems[a], &systems[b], 1))?;
                Some((case, (a, b)))
            })
        })
        .min_by_key(|(case, _)| case.len())
}

impl RunMode for PairwiseRun {
    fn command(&self) -> &'static str {
        COMMAND
    }

    fn cases(&self, suite: &Suite, case: Arc<Case>) -> Result<Vec<Arc<Case>>, EngineError> {
        self.pairs(suite, &case)
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let names: Vec<&str> = self.systems.iter().map(|system| system.name.as_str()).collect();
        let list = |texts: &[&str]| Value::from(texts.to_vec()).to_string();
        let missing = self.missing();
        BTreeMap::from([
            (SYSTEMS_KEY.to_owned(), list(&names)),
            (TIES_KEY.to_owned(), self.rule().to_owned()),
            (MISSING_KEY.to_owned(), list(&missing.iter().map(String::as_str).collect::<Vec<_>>())),
            ("criteria".to_owned(), list(&self.criteria.iter().map(String::as_str).collect::<Vec<_>>())),
        ])
    }

    fn exit(&self, folder: &RunFolder, _: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        let found =
            folder.info().map_err(EngineError::from).and_then(|info| stored_pairwise_report(folder, &info));

        match found {
            Ok((report, missing)) => conclusion(&report, &missing, ending),
            Err(error) => (ExitStatus::Incomplete, error.message),
        }
    }
}

/// The metrics of a stored comparison, and sentences about cases that could not be compared.
///
/// # Errors
/// If the run can't be read.
pub fn stored_pairwise_report(
    folder: &RunFolder,
    info: &RunInfo,
) -> Result<(PairwiseReport, Vec<String>), EngineError> {
    let list = |key: &str| -> Vec<String> {
        let text = info.settings.other.get(key);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let systems = list(SYSTEMS_KEY);
    let ties = match info.settings.other.get(TIES_KEY).map(String::as_str) {
        Some("davidson") => TieRule::Davidson,
        _ => TieRule::HalfWin,
    };
    let mut contests = PairwiseMatches::default();
    for row in folder.results()? {
        let row = row?;
        if let Some((case, pair)) = split_comparison_id(&row.case_id, &systems) {
            contests.add_row(&row, case, pair);
        }
    }

    Ok((pairwise_report(systems, &contests, ties, ConfidenceLevel::P95), list(MISSING_KEY)))
}

/// The exit code of a comparison and its reason. Wins and losses do not count.
pub fn conclusion(report: &PairwiseReport, missing: &[String], ending: RunEnding) -> (ExitStatus, String) {
    let (exit, reason) = exit_of_run(VerdictCounts::default(), ending);
    let mut found = Vec::new();
    if exit != ExitStatus::Passed {
        found.push((exit, reason));
    }

    if report.ungraded > 0 {
        let comparisons = if report.ungraded == 1 { "comparison" } else { "comparisons" };
        found
            .push((ExitStatus::Incomplete, format!("{} {comparisons} could not be judged", report.ungraded)));
    }

    if !missing.is_empty() {
        found.push((ExitStatus::Incomplete, "not every case has an answer of every system".to_owned()));
    }
    if found.is_empty() {
        return (ExitStatus::Passed, "compared".to_owned());
    }

    let reasons: Vec<&str> = found.iter().map(|(_, reason)| reason.as_str()).collect();
    (ExitStatus::strongest(found.iter().map(|(exit, _)| *exit)), reasons.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_apart_again_whatever_cases_and_systems_are_called() {
        let systems: Vec<String> = ["base", "last@gpt", "a:b"].map(str::to_owned).into();
        for case in ["refund", "a@b", "x#2", "@base:a:b"] {
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                for trial in [1, 2, 12] {
                    let id = format!("{case}{}", comparison_suffix(&systems[a], &systems[b], trial));
                    assert_eq!(split_comparison_id(&id, &systems), Some((case, (a, b))), "{id}");
                }
            }
        }
        assert_eq!(split_comparison_id("refund", &systems), None);
    }
}
