//! The cases of a comparison: each case once for every pair of systems that answered it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assize_analysis::pairwise::{Contests, PairwiseReport, report};
use assize_evalfile::{
    Baseline, Case, CaseId, GivenOutput, Grader, GraderKind, PairwiseGrader, PanelSpec, Suite,
};
use assize_report::{pairwise, pairwise_json, pairwise_markdown};
use assize_rubric::{GraderStanding, PairScores};
use assize_run::case_hash;
use assize_stats::Level;
use assize_stats::ranking::TieRule;
use assize_store::{Counts, RunFolder, RunInfo};
use serde_json::Value;

use super::system::{Lack, System};
use crate::args::{RunArgs, TieChoice};
use crate::command::session::summary_json;
use crate::command::shape::{Finished, Shape};
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::output;

/// The command's name, which also identifies a stored comparison.
pub(super) const COMMAND: &str = "pairwise";
/// Keys of the run settings: names of the systems, rule for ties, and missing answers.
const SYSTEMS: &str = "systems";
const TIES: &str = "rank_ties";
const MISSING: &str = "missing";
/// Limit of case ids listed in a message; further ones are only counted.
const NAMED: usize = 3;

/// A comparison of systems.
pub(super) struct Versus {
    pub(super) systems: Vec<System>,
    pub(super) criteria: Vec<String>,
    pub(super) ties: TieChoice,
    pub(super) markdown: bool,
    /// True if only a selection of cases is compared.
    pub(super) selective: bool,
    /// Missing answers and compared cases.
    pub(super) found: RefCell<Found>,
}

/// Cases seen so far, and those that can't be compared.
#[derive(Debug, Default)]
pub(super) struct Found {
    lacking: BTreeSet<(usize, Lack, String)>,
    seen: BTreeSet<(String, String)>,
}

impl Versus {
    /// Builds a case for every pair of systems that answered it, and for every repeat.
    fn pairs(&self, suite: &Suite, case: &Arc<Case>) -> Result<Vec<Arc<Case>>, String> {
        let (hash, question) = (case_hash(case), case.question());
        let mut found = self.found.borrow_mut();
        found.seen.insert((suite.name.clone(), case.id.to_string()));
        let mut made = Vec::new();
        for repeat in 1.. {
            let mut answers: Vec<Option<String>> = Vec::with_capacity(self.systems.len());
            for (at, system) in self.systems.iter().enumerate() {
                let answer = system.answer(&suite.name, case.id.as_str(), repeat, &hash, &question)?;
                if let (Err(lack), 1) = (&answer, repeat) {
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
                        made.push(self.pair(case, (first, second), (candidate, baseline), repeat));
                    }
                }
            }
        }
        Ok(made)
    }

    fn pair(
        &self,
        case: &Case,
        (first, second): (usize, usize),
        (candidate, baseline): (&str, &str),
        repeat: u32,
    ) -> Arc<Case> {
        let baseline = Baseline::Run {
            written: self.systems[second].name.clone(),
            folder: None,
            answer: Some(Ok(baseline.into())),
        };
        let grader = Grader {
            name: COMMAND.to_owned(),
            type_name: COMMAND.to_owned(),
            standing: GraderStanding::default(),
            place: case.place.clone(),
            kind: GraderKind::Pairwise(PairwiseGrader {
                baseline,
                criteria: self.criteria.clone(),
                judge: None,
                panel: PanelSpec::default(),
                scores: PairScores::default(),
            }),
        };
        let names = (self.systems[first].name.as_str(), self.systems[second].name.as_str());
        Arc::new(Case {
            id: CaseId::new(format!("{}{}", case.id, versus(names, repeat))),
            output: Some(GivenOutput::Text(candidate.to_owned())),
            graders: vec![Arc::new(grader)],
            targets: Vec::new(),
            depends_on: Vec::new(),
            conversation: None,
            workspace: None,
            trials: None,
            file_changes: None,
            unbuilt: Vec::new(),
            ..case.clone()
        })
    }

    /// One sentence for each kind of missing answer.
    pub(super) fn missing(&self) -> Vec<String> {
        let found = self.found.borrow();
        let mut groups: BTreeMap<(usize, Lack), Vec<&str>> = BTreeMap::new();
        for (at, lack, case) in &found.lacking {
            groups.entry((*at, *lack)).or_default().push(case);
        }
        let mut lines: Vec<String> = groups
            .iter()
            .map(|((at, lack), cases)| {
                let name = &self.systems[*at].name;
                match lack {
                    Lack::NoAnswer => format!("`{name}` has no answer to {}.", listed(cases)),
                    Lack::OtherQuestion => {
                        format!("`{name}` answered to another question under the id of {}.", listed(cases))
                    }
                }
            })
            .collect();
        for system in self.systems.iter().filter(|_| !self.selective) {
            let cases = system.cases();
            let gone: Vec<&str> = cases
                .iter()
                .filter(|(suite, case)| {
                    !found
                        .seen
                        .iter()
                        .any(|(of, id)| id == case && suite.as_ref().is_none_or(|suite| suite == of))
                })
                .map(|(_, case)| case.as_str())
                .collect();
            if !gone.is_empty() {
                lines.push(format!("`{}` answers {}, which nobody asks here.", system.name, listed(&gone)));
            }
        }
        lines
    }

    fn rule(&self) -> &'static str {
        match self.ties {
            TieChoice::Half => "half",
            TieChoice::Davidson => "davidson",
        }
    }
}

/// Formats `1 case (a)`, or `12 cases (a, b, c, ...)`.
fn listed(cases: &[&str]) -> String {
    let first = cases.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if cases.len() > NAMED { ", ..." } else { "" };
    format!("{} case{} ({first}{more})", cases.len(), if cases.len() == 1 { "" } else { "s" })
}

/// Suffix of a case id for a comparison of two systems.
fn versus((first, second): (&str, &str), repeat: u32) -> String {
    let times = if repeat > 1 { format!("#{repeat}") } else { String::new() };
    format!("@{first}:{second}{times}")
}

/// Splits an id into the case and the two systems.
fn parts<'i>(id: &'i str, systems: &[String]) -> Option<(&'i str, (usize, usize))> {
    let whole = id.rsplit_once('#').filter(|(_, repeat)| repeat.parse::<u32>().is_ok());
    let candidates = std::iter::once(id).chain(whole.map(|(id, _)| id));
    candidates
        .flat_map(|id| {
            let pairs = (0..systems.len()).flat_map(|a| (a + 1..systems.len()).map(move |b| (a, b)));
            pairs.filter_map(move |(a, b)| {
                let case = id.strip_suffix(&versus((&systems[a], &systems[b]), 1))?;
                Some((case, (a, b)))
            })
        })
        .min_by_key(|(case, _)| case.len())
}

impl Shape for Versus {
    fn command(&self) -> &'static str {
        COMMAND
    }

    fn cases(&self, suite: &Suite, case: Arc<Case>) -> Result<Vec<Arc<Case>>, String> {
        self.pairs(suite, &case)
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let names: Vec<&str> = self.systems.iter().map(|system| system.name.as_str()).collect();
        let list = |texts: &[&str]| Value::from(texts.to_vec()).to_string();
        let missing = self.missing();
        BTreeMap::from([
            (SYSTEMS.to_owned(), list(&names)),
            (TIES.to_owned(), self.rule().to_owned()),
            (MISSING.to_owned(), list(&missing.iter().map(String::as_str).collect::<Vec<_>>())),
            ("criteria".to_owned(), list(&self.criteria.iter().map(String::as_str).collect::<Vec<_>>())),
        ])
    }

    fn exit(&self, folder: &RunFolder, _: Counts, ending: Ending) -> (Exit, String) {
        let found = folder.info().map_err(|error| error.to_string()).and_then(|info| figures(folder, &info));
        match found {
            Ok((report, missing)) => conclusion(&report, &missing, ending),
            Err(message) => (Exit::Incomplete, message),
        }
    }

    fn show(&self, run: &Finished<'_>, args: &RunArgs, context: &Context) -> Result<(), String> {
        let (report, missing) = figures(run.folder, run.info)?;
        print(&report, &missing, run.info, run.folder, args.json, self.markdown, context);
        Ok(())
    }
}

/// Computes the report of a stored comparison, and the list of missing answers.
pub(super) fn figures(folder: &RunFolder, info: &RunInfo) -> Result<(PairwiseReport, Vec<String>), String> {
    let list = |key: &str| -> Vec<String> {
        let text = info.settings.other.get(key);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let systems = list(SYSTEMS);
    let ties = match info.settings.other.get(TIES).map(String::as_str) {
        Some("davidson") => TieRule::Davidson,
        _ => TieRule::HalfWin,
    };
    let mut contests = Contests::default();
    for row in folder.results().map_err(|error| error.to_string())? {
        let row = row.map_err(|error| error.to_string())?;
        if let Some((case, pair)) = parts(&row.case_id, &systems) {
            contests.take(&row, case, pair);
        }
    }
    Ok((report(systems, &contests, ties, Level::P95), list(MISSING)))
}

/// Exit code and its reason; who wins is not considered.
pub(super) fn conclusion(report: &PairwiseReport, missing: &[String], ending: Ending) -> (Exit, String) {
    let (exit, reason) = of_run(Counts::default(), ending);
    let mut found = Vec::new();
    if exit != Exit::Passed {
        found.push((exit, reason));
    }
    if report.ungraded > 0 {
        let comparisons = if report.ungraded == 1 { "comparison" } else { "comparisons" };
        found.push((Exit::Incomplete, format!("{} {comparisons} could not be judged", report.ungraded)));
    }
    if !missing.is_empty() {
        found.push((Exit::Incomplete, "not every case has an answer of every system".to_owned()));
    }
    if found.is_empty() {
        return (Exit::Passed, "compared".to_owned());
    }
    let reasons: Vec<&str> = found.iter().map(|(_, reason)| reason.as_str()).collect();
    (Exit::strongest(found.iter().map(|(exit, _)| *exit)), reasons.join(", "))
}

/// Prints a report.
pub(super) fn print(
    report: &PairwiseReport,
    missing: &[String],
    info: &RunInfo,
    folder: &RunFolder,
    json: bool,
    markdown: bool,
    context: &Context,
) {
    if json {
        let mut value = summary_json(info, folder.path());
        if let Value::Object(members) = &mut value {
            // Thresholds are meaningless in a comparison of two answers.
            for unrelated in ["counts", "mean_score", "figures"] {
                members.remove(unrelated);
            }
            members.insert(COMMAND.to_owned(), pairwise_json(report, missing));
        }
        output::print_json(&value);
        return;
    }
    if markdown {
        output::print(&pairwise_markdown(report, missing));
        return;
    }
    output::print(&pairwise(report, missing, context.stdout));
    if let Some(summary) = &info.summary {
        let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
        output::print(&format!(
            "\njudge {}; {} judge calls, {} from the cache\n{}\n{}\n",
            judges.join(", "),
            summary.judge_calls,
            summary.judge_calls_cached,
            summary.exit_reason,
            folder.path().display()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_apart_again_whatever_cases_and_systems_are_called() {
        let systems: Vec<String> = ["base", "last@gpt", "a:b"].map(str::to_owned).into();
        for case in ["refund", "a@b", "x#2", "@base:a:b"] {
            for (a, b) in [(0, 1), (0, 2), (1, 2)] {
                for repeat in [1, 2, 12] {
                    let id = format!("{case}{}", versus((&systems[a], &systems[b]), repeat));
                    assert_eq!(parts(&id, &systems), Some((case, (a, b))), "{id}");
                }
            }
        }
        assert_eq!(parts("refund", &systems), None);
    }
}
