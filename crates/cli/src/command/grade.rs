//! `assize grade`.

use assize_engine::{ExitStatus, RunOutcome};

use super::eval::{print_export, print_plan};
use super::present;
use crate::args::GradeArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::runtime::block_on;

pub(crate) fn execute(args: &GradeArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let engine = context.run_engine(args.run.quiet, args.run.json);
    match block_on(engine.grade(&args.options()?))? {
        RunOutcome::Planned(planned) => print_plan(&planned, &args.run, context),
        RunOutcome::Exported(report) => print_export(&report, args.run.output(), context),
        RunOutcome::Finished(finished) => {
            present::finished_run(&finished, args.run.output(), args.run.show, context)?;
            Ok(finished.exit)
        }
    }
}
