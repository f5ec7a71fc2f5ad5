//! `assize audit`: one file per audit, and what they share.

mod injection;
mod probes;
mod probing;
mod show;

use assize_engine::ExitStatus;
use assize_engine::audit::check_options;
use assize_store::{RunFolder, RunInfo};

use crate::args::{AuditArgs, AuditCommand, RunArgs, ShowChoice};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn execute(args: &AuditArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    match &args.command {
        AuditCommand::Injection(args) => injection::execute(args, context),
        AuditCommand::Order(args) => probing::order(args, context),
        AuditCommand::Length(args) => probing::length(args, context),
        AuditCommand::OwnFamily(args) => probing::own_family(args, context),
        AuditCommand::Probes(args) => Ok(probes::execute(args, context)),
        AuditCommand::Show(args) => show::execute(args, context),
    }
}

/// Options of runs that audits have no use for are not swallowed.
fn refuse(run: &RunArgs) -> Result<(), CommandFailure> {
    check_options(&run.options())?;

    if run.show != ShowChoice::Auto {
        return Err(
            "`--show` has no effect on an audit; `assize explain RUN CASE` shows one of its cases".into()
        );
    }

    Ok(())
}

/// Prints the judges, the number of calls and the run folder.
fn print_footer(info: &RunInfo, folder: &RunFolder) {
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
