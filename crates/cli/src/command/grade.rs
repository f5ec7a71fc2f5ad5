//! `assize grade`.

use assize_engine::ExitStatus;

use super::present;
use crate::args::GradeArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::runtime::block_on;

pub(crate) fn execute(args: &GradeArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let engine = context.run_engine(args.run.quiet, args.run.json);
    let finished = block_on(engine.grade(&args.options()))?;

    present::finished_run(&finished, args.run.output(), args.run.show, context)?;
    Ok(finished.exit)
}
