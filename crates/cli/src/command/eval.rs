//! `assize eval`.

use assize_engine::{
    CapabilityList, EvalMode, ExitStatus, ExportReport, FinishedRun, ImportReport, PlannedRun, RunOutcome,
};

use super::present;
use crate::args::{EvalCommandArgs, ReportFormat, RunArgs};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};
use crate::runtime::block_on;

pub(crate) fn execute(args: &EvalCommandArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let run = &args.eval.run;
    let engine = context.run_engine(run.quiet, run.output.json);
    #[cfg(not(feature = "cluster"))]
    if args.cluster.cluster.is_some() {
        return Err(super::missing::failure("eval --cluster"));
    }
    #[cfg(feature = "cluster")]
    if let Some((address, options)) = args.cluster.options(run.resume.is_some())? {
        let finished = super::cluster::coordinate(args, address, options, engine, context)?;
        present::finished_run(&finished, run.output(), run.output.show(), context)?;
        return Ok(finished.exit);
    }

    let mode = EvalMode { sequence: args.sequence.options() };

    let outcome = block_on(engine.evaluate(mode, &args.options()))?;
    print_outcome(outcome, run, context, |finished| {
        present::finished_run(finished, run.output(), run.output.show(), context)
    })
}

/// Prints a plan, an export, or by `print` the results of a run.
pub(super) fn print_outcome(
    outcome: RunOutcome,
    args: &RunArgs,
    context: &CliContext,
    print: impl FnOnce(&FinishedRun) -> Result<(), CommandFailure>,
) -> Result<ExitStatus, CommandFailure> {
    match outcome {
        RunOutcome::Planned(planned) => print_plan(&planned, args, context),
        RunOutcome::Exported(report) => print_export(&report, args.output(), context),
        RunOutcome::Finished(finished) => {
            print(&finished)?;
            Ok(finished.exit)
        }
    }
}

/// Prints which requests were written.
fn print_export(
    report: &ExportReport,
    delivery: ResultOutput<'_>,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    if let Some(file) = delivery.out.iter().find(|file| file.format != ReportFormat::Json) {
        let path = file.path.display();
        return Err(format!(
            "{path}: requests that are exported have no results to report; run with their replies first"
        )
        .into());
    }
    for problem in report.import.iter().flat_map(ImportReport::problems).chain(report.refused_sentence()) {
        output::print_warning(&problem, context);
    }

    if !delivery.deliver(|| report.to_json())? {
        for line in report.lines() {
            output::print(&format!("{}\n", assize_report::escape_unsafe(&line)));
        }
    }

    Ok(if report.interrupted {
        ExitStatus::Interrupted
    } else if report.refused.count > 0 {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Passed
    })
}

/// Prints the requests of files that need consent.
pub(super) fn print_capabilities(capabilities: &CapabilityList, context: &CliContext) {
    if !capabilities.is_empty() {
        output::print_text(
            &format!("needs your consent:\n  {}\n", capabilities.lines().join("\n  ")),
            context,
        );
    }
}

/// Prints the plan of a run.
fn print_plan(
    planned: &PlannedRun,
    args: &RunArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let PlannedRun { plan, cases, capabilities, warnings, .. } = planned;
    if let Some(file) = args.output.out.iter().find(|file| file.format != ReportFormat::Json) {
        let path = file.path.display();
        return Err(
            format!("{path}: a plan has no results to report; `--out FILE.json` writes the plan").into()
        );
    }
    if args.output().deliver(|| planned.to_json())? {
        return Ok(ExitStatus::Passed);
    }

    for warning in warnings {
        output::print_warning(warning, context);
    }

    output::print_text(&plan.to_text(*cases), context);
    print_capabilities(capabilities, context);
    Ok(ExitStatus::Passed)
}
