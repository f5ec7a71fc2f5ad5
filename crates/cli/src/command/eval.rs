//! `assize eval`.

use assize_engine::{EvalMode, ExitStatus, PlannedRun, RunOutcome};

use super::present;
use crate::args::{EvalCommandArgs, RunArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

pub(crate) fn execute(args: &EvalCommandArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let run = &args.eval.run;
    let engine = context.run_engine(run.quiet, run.json);
    let mode = EvalMode { sequence: args.sequence.options() };

    match block_on(engine.evaluate(mode, &args.eval.options()))? {
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
    if args.output().deliver(|| plan.to_json(*cases, warnings))? {
        return Ok(ExitStatus::Passed);
    }

    for warning in warnings {
        output::print_warning(warning, context);
    }

    output::print(&plan.to_text(*cases));
    Ok(ExitStatus::Passed)
}
