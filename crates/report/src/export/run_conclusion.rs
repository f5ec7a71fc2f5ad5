//! Conclusion of a run: its exit code, and the problems that count against it apart from its cases.
//!
//! In every format, a reader must see a failure exactly if the exit code of the run is not 0. So everything
//! that leads to another exit code is either a case that counts or a [`RunProblem`].

use assize_analysis::describe_pass_rate_gate;
use assize_rubric::NodeStatus;
use assize_store::{PassRateResult, RunInfo};

use super::RunReport;
use super::case_index::{CaseIndex, CaseState};
use crate::number::format_count;
use crate::scorecard_scores::closing_lines;

/// Exit code of a run with missing cases.
const INCOMPLETE: u8 = 3;

/// Conclusion of a run.
#[derive(Debug)]
pub(crate) struct ReportedConclusion {
    /// Exit code. If the run did not end, at least [`INCOMPLETE`].
    pub(crate) exit_code: u8,
    pub(crate) ended: bool,
    /// Number of cases, or trials of cases, known to be missing.
    pub(crate) missing: usize,
    /// Problems of the run as a whole, apart from its cases.
    pub(crate) problems: Vec<RunProblem>,
}

/// Something that counts against a run as a whole, such as cases that were not run.
#[derive(Debug)]
pub(crate) struct RunProblem {
    /// Id that does not change between runs.
    pub(crate) id: &'static str,
    /// Short text, such as `4 cases not run`.
    pub(crate) title: String,
    pub(crate) reason: String,
    pub(crate) level: ProblemLevel,
}

/// How a problem of a run affects its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemLevel {
    /// Something is known to have failed.
    Failed,
    /// Something is missing.
    Missing,
    /// Does not change the result, but a reader must know it, for example the scope of the run.
    Note,
}

/// Returns why cases that did not pass are allowed: the rule about the run as a whole that was met.
pub(crate) fn allowance(info: &RunInfo) -> String {
    let summary = info.summary.as_ref();
    match summary.and_then(|summary| summary.pass_rate_gate) {
        Some(gate) => describe_pass_rate_gate(&gate),
        None => summary.map(|summary| summary.exit_reason.clone()).unwrap_or_default(),
    }
}

impl ReportedConclusion {
    pub(crate) fn new(run: &RunReport<'_>, index: &CaseIndex) -> Self {
        let info = run.info;
        let summary = info.summary.as_ref();
        let ended = info.finished_at.is_some() && summary.is_some();
        let stored = summary.map_or(INCOMPLETE, |summary| summary.exit_code);
        let exit_code = if ended || stored != 0 { stored } else { INCOMPLETE };
        let reason = summary.map(|summary| summary.exit_reason.clone()).unwrap_or_default();

        let mut problems = Vec::new();
        let mut add = |id, title: String, reason: &str, failed| {
            let level = if failed { ProblemLevel::Failed } else { ProblemLevel::Missing };
            problems.push(RunProblem { id, title, reason: reason.to_owned(), level });
        };

        if exit_code != 0 {
            for (_, scores) in run.scorecard.iter().flat_map(|card| card.scores) {
                let status = scores.root().status;
                if status == NodeStatus::Pass {
                    continue;
                }
                let failed = matches!(status, NodeStatus::Fail | NodeStatus::Blocked);
                let headline = closing_lines(scores).into_iter().next().unwrap_or_default();
                add("scorecard", headline, "", failed);
            }
        }

        if !ended {
            let missing = "only its finished cases are here; the number of the others is unknown";
            add("unfinished", "the run did not end".to_owned(), missing, false);
        }
        let (not_run, excluded) = summary.map_or((0, 0), |summary| (summary.not_run, summary.excluded));
        // A rule that ends a run early skips cases that the result does not need.
        if not_run > 0 && exit_code != 0 {
            let (one, many) = if index.has_trials() { ("trial", "trials") } else { ("case", "cases") };
            let title = format!("{} not run", format_count(not_run as u64, one, many));
            add("not-run", title, &reason, false);
        }
        if excluded > 0 && exit_code != 0 {
            let cases = format_count(excluded as u64, "case", "cases");
            let why = "the file that they are in has errors";
            add("excluded", format!("{cases} excluded"), why, false);
        }

        let gate = summary.and_then(|summary| summary.pass_rate_gate);
        if let Some(gate) = gate.filter(|gate| exit_code != 0 && gate.result != PassRateResult::Met) {
            let missed = gate.result == PassRateResult::Missed;
            add("pass-rate", describe_pass_rate_gate(&gate), "", missed);
        }

        let counted = index.count(CaseState::Failed) + index.count(CaseState::Ungraded);
        if exit_code != 0 && counted == 0 && problems.is_empty() {
            let title = if reason.is_empty() { format!("exit code {exit_code}") } else { reason };
            let level = if exit_code == 1 { ProblemLevel::Failed } else { ProblemLevel::Missing };
            problems.push(RunProblem { id: "result", title, reason: String::new(), level });
        }

        let lines = summary.map(|summary| summary.conclusion.lines()).unwrap_or_default();
        problems.extend(lines.into_iter().map(|line| RunProblem {
            id: line.kind,
            title: line.text,
            reason: String::new(),
            level: ProblemLevel::Note,
        }));

        Self { exit_code, ended, missing: not_run + excluded, problems }
    }

    /// Returns true if something counts against the run.
    pub(crate) fn has_problems(&self) -> bool {
        self.problems.iter().any(|problem| problem.level != ProblemLevel::Note)
    }

    /// Titles of the problems, separated by semicolons.
    pub(crate) fn titles(&self) -> String {
        let titles: Vec<&str> = self.problems.iter().map(|problem| problem.title.as_str()).collect();
        titles.join("; ")
    }
}

impl RunProblem {
    /// Title and reason in one line.
    pub(crate) fn describe(&self) -> String {
        if self.reason.is_empty() { self.title.clone() } else { format!("{}: {}", self.title, self.reason) }
    }
}
