//! `assize audit order`, `length` and `self`.

use assize_audit::AuditReport;
use assize_engine::audit::{ProbingAudit, ProbingKind};
use assize_engine::{EvalOptions, ExitStatus, RunOutcome};
use assize_report::{audit_json, render_audit};
use assize_store::{RunFolder, RunInfo};

use crate::args::{LengthArgs, OrderArgs, RunArgs, SelfArgs};
use crate::command::eval::{print_export, print_plan};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};
use crate::runtime::block_on;

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

fn run(
    audit: &ProbingAudit,
    options: &EvalOptions,
    args: &RunArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    super::shared::refuse(args)?;

    let engine = context.run_engine(args.quiet, args.output.json);
    match block_on(engine.evaluate_as(audit, options))? {
        RunOutcome::Planned(planned) => print_plan(&planned, args, context),
        RunOutcome::Exported(report) => print_export(&report, args.output(), context),
        RunOutcome::Finished(finished) => {
            let (folder, info) = (&finished.folder, &finished.info);
            if let Some(kind) = ProbingKind::from_run(info) {
                print(&kind.report(folder, info)?, info, folder, args.output(), context)?;
            }
            Ok(finished.exit)
        }
    }
}

/// Prints the metrics of an audit.
pub(super) fn print(
    report: &AuditReport,
    info: &RunInfo,
    folder: &RunFolder,
    output: ResultOutput<'_>,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let json =
        || super::shared::audit_json(info, folder, &["counts", "mean_score", "metrics"], audit_json(report));
    if output.deliver(json)? {
        return Ok(());
    }

    output::print(&render_audit(report, context.stdout));
    crate::command::present::print_footer(info, folder.path(), context);

    Ok(())
}
