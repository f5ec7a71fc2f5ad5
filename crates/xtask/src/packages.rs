//! What a release consists of, tried out with the program that was built for the tests.

use xtask::shell;
use xtask::workspace_build::WorkspaceBuild;

use crate::step::{StepOutcome, StepResult};
use crate::tools;

/// Runs `packaging/test.sh`.
pub(crate) fn run() -> StepResult {
    if shell::output(shell::program("bash").arg("--version")).is_err() {
        return Ok(StepOutcome::Skipped("bash is not installed".to_owned()));
    }

    let program = WorkspaceBuild::make()?.program("assize")?;
    let mut test = shell::program("bash");
    // Without it, the script reports what it skips.
    if let Ok(pre_commit) = tools::from_python("pre-commit", "pre-commit") {
        test.env("ASSIZE_PRE_COMMIT", pre_commit);
    }
    shell::run(test.arg("packaging/test.sh").arg(program))?;
    Ok(StepOutcome::Passed)
}
