//! Exit codes and their precedence.

use assize_store::{EarlyStop, HaltReason, RunInfo, StopConclusion, VerdictCounts};

/// Exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// Everything passed.
    Passed,
    /// A case failed: score, gate or threshold.
    Failed,
    /// The command can't be executed as given; nothing was run.
    Invalid,
    /// Something could not be graded or run.
    Incomplete,
    /// A budget stopped the run.
    OverBudget,
    /// The evidence of a comparison was insufficient.
    Inconclusive,
    /// Interrupted.
    Interrupted,
}

impl ExitStatus {
    /// In order of precedence: the first one that applies is the exit code.
    const ORDER: [Self; 7] = [
        Self::Interrupted,
        Self::Invalid,
        Self::OverBudget,
        Self::Failed,
        Self::Incomplete,
        Self::Inconclusive,
        Self::Passed,
    ];

    /// Returns the status with this number, if there is one.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ORDER.into_iter().find(|status| status.code() == code)
    }

    /// Returns the number that the shell receives.
    pub const fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Incomplete => 3,
            Self::OverBudget => 4,
            Self::Inconclusive => 5,
            Self::Interrupted => 130,
        }
    }

    /// Returns the result of a run with this status in one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Incomplete => "incomplete",
            Self::OverBudget => "budget",
            Self::Inconclusive => "inconclusive",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the code with the highest precedence.
    pub fn strongest(exits: impl IntoIterator<Item = Self>) -> Self {
        let exits: Vec<Self> = exits.into_iter().collect();
        Self::ORDER.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Self::Passed)
    }
}

/// How a run ended, apart from its verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunEnding {
    /// The user stopped it.
    pub interrupted: bool,
    /// The run's deadline passed.
    pub too_late: bool,
    /// The budget did not allow another call.
    pub over_budget: bool,
    /// A model server was given up.
    pub server_given_up: bool,
    /// Results could not be stored, or further cases could not be read.
    pub broke_off: bool,
    /// Why no further case was started, if the reason is in the cases themselves.
    pub halted: Option<HaltReason>,
    /// Conclusion of a rule that may end the run early. It replaces the verdicts of single cases.
    pub decision: Option<RunDecision>,
    /// Cases excluded because their file has errors.
    pub excluded: usize,
    /// Cases that a stored run did not reach.
    pub not_run: usize,
    /// True if the stored run did not end: it was killed, or is still in progress.
    pub unfinished: bool,
}

/// Conclusion of a run that may end as soon as its result is clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunDecision {
    /// Clearly at the reference or above it.
    Above,
    /// Clearly below it.
    Below,
    /// Not clear.
    Unclear,
}

impl From<&EarlyStop> for RunDecision {
    fn from(stop: &EarlyStop) -> Self {
        match stop.conclusion {
            Some(StopConclusion::Above) => Self::Above,
            Some(StopConclusion::Below) => Self::Below,
            None => Self::Unclear,
        }
    }
}

impl RunEnding {
    /// How a stored run ended, as far as its description says. Code that recomputes its results must take this
    /// into account, because the results of some cases do not describe the others.
    pub fn of_stored(info: &RunInfo) -> Self {
        let Some(summary) = &info.summary else {
            return Self { unfinished: true, ..Self::default() };
        };

        Self {
            over_budget: summary.exit_code == ExitStatus::OverBudget.code(),
            // A run that could not store its rows did not count them.
            broke_off: info.finished_at.is_some() && info.rows.is_none() && info.format_version > 1,
            excluded: summary.excluded,
            not_run: summary.not_run,
            ..Self::default()
        }
    }
}

/// The exit code of a run and its reason.
pub fn exit_of_run(counts: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
    let mut ends = Vec::new();
    if ending.interrupted {
        ends.push((ExitStatus::Interrupted, "interrupted".to_owned()));
    }
    if ending.too_late {
        ends.push((ExitStatus::Incomplete, "stopped at the deadline".to_owned()));
    }
    if ending.over_budget {
        ends.push((ExitStatus::OverBudget, "stopped by the budget".to_owned()));
    }

    if ending.server_given_up {
        ends.push((ExitStatus::Incomplete, "stopped, because a model server is unusable".to_owned()));
    }

    // A borderline case did not pass, and a gate in CI must not let it through.
    let failed = counts.fail + counts.borderline;
    if failed > 0 {
        // Results that could not be stored don't count. If a rate decides, single cases do not.
        let is_counted = !ending.broke_off && ending.decision.is_none();
        let exit = if is_counted { ExitStatus::Failed } else { ExitStatus::Passed };
        let reason = match (counts.fail, counts.borderline) {
            (fail, 0) => format!("{fail} failed"),
            (0, borderline) => format!("{borderline} borderline"),
            (fail, borderline) => format!("{fail} failed, {borderline} borderline"),
        };
        ends.push((exit, reason));
    }

    if counts.incomplete > 0 {
        ends.push((ExitStatus::Incomplete, format!("{} incomplete", counts.incomplete)));
    }
    if counts.skipped > 0 {
        ends.push((ExitStatus::Incomplete, format!("{} skipped", counts.skipped)));
    }

    if let Some(decision) = ending.decision {
        let (exit, reason) = match decision {
            RunDecision::Above => (ExitStatus::Passed, "clearly above the reference"),
            RunDecision::Below => (ExitStatus::Failed, "clearly below the reference"),
            RunDecision::Unclear => (ExitStatus::Inconclusive, "inconclusive"),
        };
        ends.push((exit, reason.to_owned()));
    }

    let halted = match ending.halted {
        Some(HaltReason::Error) => Some("stopped at an error"),
        Some(HaltReason::NotPassed) => Some("stopped by `--bail`"),
        // The decision was handled above.
        Some(HaltReason::Decided) | None => None,
    };
    if let Some(reason) = halted {
        ends.push((ExitStatus::Incomplete, reason.to_owned()));
    }

    if ending.unfinished {
        ends.push((ExitStatus::Incomplete, "the run did not end".to_owned()));
    }
    if ending.not_run > 0 {
        ends.push((ExitStatus::Incomplete, format!("{} not run", ending.not_run)));
    }
    if ending.excluded > 0 {
        ends.push((ExitStatus::Incomplete, format!("{} excluded", ending.excluded)));
    }
    if ending.broke_off {
        ends.push((ExitStatus::Incomplete, "stopped: results could not be written".to_owned()));
    }
    if ends.is_empty() {
        ends.push((ExitStatus::Passed, "all passed".to_owned()));
    }

    let (exits, reasons): (Vec<ExitStatus>, Vec<String>) = ends.into_iter().unzip();
    (ExitStatus::strongest(exits), reasons.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_exit_counts() {
        assert_eq!(ExitStatus::strongest([ExitStatus::Incomplete, ExitStatus::Failed]), ExitStatus::Failed);
        assert_eq!(
            ExitStatus::strongest([ExitStatus::Failed, ExitStatus::Interrupted]),
            ExitStatus::Interrupted
        );
        assert_eq!(ExitStatus::strongest([ExitStatus::Failed, ExitStatus::Invalid]), ExitStatus::Invalid);
        assert_eq!(ExitStatus::strongest([]), ExitStatus::Passed);
    }

    #[test]
    fn every_way_a_run_can_end_has_its_code() {
        let exit = |counts, ending| exit_of_run(counts, ending).0.code();
        let all_passed = VerdictCounts { pass: 3, ..VerdictCounts::default() };
        assert_eq!(exit(all_passed, RunEnding::default()), 0);
        assert_eq!(exit(VerdictCounts { fail: 1, incomplete: 1, ..all_passed }, RunEnding::default()), 1);
        assert_eq!(exit(VerdictCounts { borderline: 1, ..all_passed }, RunEnding::default()), 1);
        assert_eq!(exit(VerdictCounts { incomplete: 1, ..all_passed }, RunEnding::default()), 3);
        assert_eq!(exit(all_passed, RunEnding { excluded: 2, ..RunEnding::default() }), 3);
        assert_eq!(exit(all_passed, RunEnding { broke_off: true, ..RunEnding::default() }), 3);
        let broke_off = RunEnding { broke_off: true, ..RunEnding::default() };
        assert_eq!(exit(VerdictCounts { fail: 1, ..all_passed }, broke_off), 3);
        assert_eq!(exit(VerdictCounts { skipped: 1, ..all_passed }, RunEnding::default()), 3);
        assert_eq!(exit(VerdictCounts { fail: 1, skipped: 1, ..all_passed }, RunEnding::default()), 1);
        assert_eq!(
            exit(all_passed, RunEnding { halted: Some(HaltReason::Error), ..RunEnding::default() }),
            3
        );
        let given_up = RunEnding { server_given_up: true, ..RunEnding::default() };
        assert_eq!(exit(all_passed, given_up), 3);
        let unfinished = RunEnding { unfinished: true, ..RunEnding::default() };
        assert_eq!(exit(all_passed, unfinished), 3);
        assert_eq!(exit(all_passed, RunEnding { not_run: 1, ..RunEnding::default() }), 3);
        let too_late = RunEnding { too_late: true, ..RunEnding::default() };
        assert_eq!(exit(all_passed, too_late), 3);
        assert_eq!(exit(VerdictCounts { fail: 1, ..all_passed }, too_late), 1);
        let over_budget = RunEnding { over_budget: true, ..RunEnding::default() };
        assert_eq!(exit(VerdictCounts { fail: 1, incomplete: 1, ..all_passed }, over_budget), 4);
        assert_eq!(exit(all_passed, RunEnding { interrupted: true, ..over_budget }), 130);
        assert_eq!(exit(all_passed, RunEnding { interrupted: true, ..RunEnding::default() }), 130);

        // If a rate decides, single cases do not.
        let one_failed = VerdictCounts { fail: 1, ..all_passed };
        let decided = |decision| RunEnding {
            decision: Some(decision),
            halted: Some(HaltReason::Decided),
            ..RunEnding::default()
        };
        assert_eq!(exit(one_failed, decided(RunDecision::Above)), 0);
        assert_eq!(exit(all_passed, decided(RunDecision::Below)), 1);
        assert_eq!(exit(all_passed, RunEnding { halted: None, ..decided(RunDecision::Unclear) }), 5);
        assert_eq!(exit(VerdictCounts { incomplete: 1, ..all_passed }, decided(RunDecision::Above)), 3);
    }
}
