//! What came of a step of the check.

/// How a step ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    Passed,
    /// The step was skipped, for this reason.
    Skipped(String),
}

pub(crate) type StepResult = Result<StepOutcome, String>;

pub(crate) fn passed(result: Result<(), String>) -> StepResult {
    result.map(|()| StepOutcome::Passed)
}
