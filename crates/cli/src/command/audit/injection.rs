//! `assize audit injection`.

use std::num::NonZeroUsize;

use assize_audit::injection::InjectionReport;
use assize_engine::audit::InjectionAudit;
use assize_engine::{ExitStatus, RunOutcome};
use assize_report::render_injection_audit;
use assize_store::{RunFolder, RunInfo};

use crate::args::InjectionArgs;
use crate::command::eval::{print_export, print_plan};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};
use crate::runtime::block_on;

pub(super) fn execute(args: &InjectionArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let run = &args.eval.run;
    super::shared::refuse(run)?;

    let audit = InjectionAudit {
        places: args.place.iter().copied().collect(),
        repeats: args.repeats,
        max_cases: args.max_cases.map(NonZeroUsize::get),
        seed: args.seed,
        max_flip_rate: args.max_flip_rate,
        ..InjectionAudit::new(&args.probes)?
    };

    let engine = context.run_engine(run.quiet, run.output.json);
    match block_on(engine.evaluate_as(&audit, &args.eval.options()))? {
        RunOutcome::Planned(planned) => print_plan(&planned, run, context),
        RunOutcome::Exported(report) => print_export(&report, run.output(), context),
        RunOutcome::Finished(finished) => {
            let report = InjectionAudit::report(&finished.folder)?;
            print(&report, &finished.info, &finished.folder, run.output(), context)?;
            Ok(finished.exit)
        }
    }
}

/// Prints the metrics of an audit.
pub(super) fn print(
    report: &InjectionReport,
    info: &RunInfo,
    folder: &RunFolder,
    output: ResultOutput<'_>,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let json = || super::shared::audit_json(info, folder, &["counts", "mean_score"], report.to_json());
    if output.deliver(json)? {
        return Ok(());
    }

    output::print(&render_injection_audit(report, context.stdout));
    crate::command::present::print_footer(info, folder.path(), context);

    Ok(())
}
