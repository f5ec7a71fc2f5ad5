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
        RunOutcome::Planned(planned) => Ok(print_plan(&planned, run, context)),
        RunOutcome::Finished(finished) => {
            present::finished_run(&finished, run, context)?;
            Ok(finished.exit)
        }
    }
}

/// Prints what a run would take.
pub(super) fn print_plan(planned: &PlannedRun, args: &RunArgs, context: &CliContext) -> ExitStatus {
    let PlannedRun { plan, cases, warnings } = planned;
    if args.json {
        output::print_json(&plan.to_json(*cases, warnings));
        return ExitStatus::Passed;
    }

    for warning in warnings {
        output::print_warning(warning, context);
    }

    output::print(&plan.to_text(*cases));
    ExitStatus::Passed
}
