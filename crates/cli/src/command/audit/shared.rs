//! Parts that all audits share: refused options and the footer.

use assize_engine::audit::check_options;
use assize_store::{RunFolder, RunInfo};

use crate::args::{RunArgs, ShowChoice};
use crate::failure::CommandFailure;
use crate::output;

/// Options of runs that audits have no use for are not swallowed.
pub(super) fn refuse(run: &RunArgs) -> Result<(), CommandFailure> {
    check_options(&run.options())?;

    if run.show != ShowChoice::Auto {
        return Err(
            "`--show` has no effect on an audit; `assize explain RUN CASE` shows one of its cases".into()
        );
    }

    Ok(())
}

/// Prints the judges, the number of calls and the run folder.
pub(super) fn print_footer(info: &RunInfo, folder: &RunFolder) {
    if let Some(summary) = &info.summary {
        let calls =
            format!("{} judge calls, {} from the cache", summary.judge_calls, summary.judge_calls_cached);
        let judges: Vec<&str> = info.judges.iter().map(|judge| &*judge.identity.name).collect();
        output::print(&format!(
            "\njudge {}; {calls}\n{}\n{}\n",
            judges.join(", "),
            summary.exit_reason,
            folder.path().display()
        ));
    }
}
