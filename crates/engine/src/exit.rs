//! Reasons to stop asking models, and the exit code of an audit.

use assize_analysis::{ExitStatus, RunEnding, exit_of_run};
use assize_store::VerdictCounts;

/// Why no more calls are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStop {
    /// The budget allows no further call.
    OverBudget(String),
    /// A model server was given up.
    ServerGivenUp(String),
}

impl CallStop {
    /// The reason, for messages.
    pub fn reason(&self) -> &str {
        match self {
            Self::OverBudget(reason) | Self::ServerGivenUp(reason) => reason,
        }
    }

    /// The exit code if work is left undone.
    pub const fn exit(&self) -> ExitStatus {
        match self {
            Self::OverBudget(_) => ExitStatus::OverBudget,
            Self::ServerGivenUp(_) => ExitStatus::Incomplete,
        }
    }
}

/// The exit code of an audit and its reason, from the findings, the ending, and whether it is complete. The
/// verdicts of its cases do not count.
pub(crate) fn exit_of_audit(
    ending: RunEnding,
    found: Vec<(ExitStatus, String)>,
    is_incomplete: bool,
) -> (ExitStatus, String) {
    let run = exit_of_run(VerdictCounts::default(), ending);
    let run = Some(run).filter(|(exit, _)| *exit != ExitStatus::Passed);
    let incomplete = is_incomplete.then(|| (ExitStatus::Incomplete, "incomplete".to_owned()));
    let (exits, reasons): (Vec<ExitStatus>, Vec<String>) =
        run.into_iter().chain(found).chain(incomplete).unzip();
    if exits.is_empty() {
        return (ExitStatus::Passed, "audit complete".to_owned());
    }

    (ExitStatus::strongest(exits), reasons.join(", "))
}
