//! `assize audit injection`, `order`, `length` and `self`.

use assize_engine::audit::{InjectionAudit, ProbingAudit, check_options, read_audit};
use assize_engine::{EvalOptions, ExitStatus, RunMode};

use super::print::print;
use crate::args::{InjectionArgs, LengthArgs, OrderArgs, RunArgs, SelfArgs, ShowChoice};
use crate::command::eval::print_outcome;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::runtime::block_on;

pub(super) fn injection(args: &InjectionArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let places = args.place.iter().copied().collect();
    let audit = InjectionAudit::new(&args.probes, places, args.probing.options(args.max_flip_rate))?;

    run(&audit, &args.eval.options(), &args.eval.run, context)
}

pub(super) fn order(args: &OrderArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut eval = args.eval.options();
    let options = args.probing.options(args.max_flip_rate);
    let audit = ProbingAudit::order(args.permutations, options, &mut eval.run)?;

    run(&audit, &eval, &args.eval.run, context)
}

pub(super) fn length(args: &LengthArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let audit = ProbingAudit::length(args.probing.options(args.max_shift));

    run(&audit, &args.eval.options(), &args.eval.run, context)
}

pub(super) fn own_family(args: &SelfArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let audit = ProbingAudit::own_family(&args.family, args.probing.options(args.max_preference))?;

    run(&audit, &args.eval.options(), &args.eval.run, context)
}

/// Refuses options of runs that have no meaning for audits, instead of ignoring them.
fn refuse(run: &RunArgs) -> Result<(), CommandFailure> {
    check_options(&run.options())?;

    if run.output.show() != ShowChoice::Auto {
        return Err("`--show` has no effect on an audit; use `assize explain RUN CASE`".into());
    }

    Ok(())
}

fn run(
    audit: &dyn RunMode,
    options: &EvalOptions,
    args: &RunArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    refuse(args)?;

    let engine = context.run_engine(args.quiet, args.output.json);
    let outcome = block_on(engine.evaluate_as(audit, options))?;
    print_outcome(outcome, args, context, |finished| match read_audit(&finished.folder, &finished.info)? {
        Some(audit) => print(&audit, &finished.info, &finished.folder, args.output(), context),
        None => Ok(()),
    })
}
