//! `assize eval`.

use assize_engine::{EvalMode, ExitStatus, PlannedRun, RunOutcome};

use super::present;
use crate::args::{EvalCommandArgs, ReportFormat, RunArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

pub(crate) fn execute(args: &EvalCommandArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let run = &args.eval.run;
    let engine = context.run_engine(run.quiet, run.json);
    let mode = EvalMode { sequence: args.sequence.options() };

    match block_on(engine.evaluate(mode, &args.options()))? {
        RunOutcome::Planned(planned) => print_plan(&planned, run, context),
        RunOutcome::Finished(finished) => {
            present::finished_run(&finished, run, context)?;
            Ok(finished.exit)
        }
    }
}

/// Prints what a run would take.
pub(super) fn print_plan(
    planned: &PlannedRun,
    args: &RunArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let PlannedRun { plan, cases, warnings } = planned;
    if let Some(file) = args.out.iter().find(|file| file.format != ReportFormat::Json) {
        let path = file.path.display();
        return Err(
            format!("{path}: a plan has no results to report; `--out FILE.json` writes the plan").into()
        );
    }
    if args.output().deliver(|| plan.to_json(*cases, warnings))? {
        return Ok(ExitStatus::Passed);
    }

    for warning in warnings {
        output::print_warning(warning, context);
    }

    output::print(&plan.to_text(*cases));
    Ok(ExitStatus::Passed)
}
