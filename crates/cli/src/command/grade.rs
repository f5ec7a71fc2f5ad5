//! `assize grade`.

use assize_engine::Exit;

use super::present;
use crate::args::GradeArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::runtime::block_on;

pub(crate) fn execute(args: &GradeArgs, context: &Context) -> Result<Exit, Failure> {
    let engine = context.run_engine(args.run.quiet, args.run.json);
    let finished = block_on(engine.grade(&args.options()))?;

    present::finished_run(&finished, &args.run, context)?;
    Ok(finished.exit)
}
