//! `assize compare pairwise`: compares systems in pairs, case by case, in both orders.

use assize_analysis::pairwise::PairwiseReport;
use assize_engine::pairwise::{PairwiseInput, PairwiseOptions, conclusion, stored_pairwise_report};
use assize_engine::{EvalOptions, ExitStatus, RunEnding, RunOutcome, summary_json};
use assize_report::{pairwise_json, render_pairwise, render_pairwise_markdown};
use assize_store::{RunFolder, RunInfo};
use serde_json::Value;

use super::eval::{print_export, print_plan};
use super::present;
use crate::args::{PairwiseArgs, ShowChoice, answer_columns};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

pub(super) fn execute(args: &PairwiseArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let options = options(args)?;
    let engine = context.run_engine(args.run.quiet, args.run.output.json);
    let (run, loaded) = match engine.find_systems(&options)? {
        PairwiseInput::Stored(folder, info) => return print_again(args, &folder, *info, context),
        PairwiseInput::New(run, loaded) => (run, loaded),
    };
    if args.run.output.show() != ShowChoice::Auto {
        return Err("`--show` has no effect on a pairwise comparison; remove it".into());
    }

    match block_on(engine.evaluate_loaded(&*run, &loaded, &options.eval))? {
        RunOutcome::Planned(planned) => print_plan(&planned, &args.run, context),
        RunOutcome::Exported(report) => print_export(&report, args.run.output(), context),
        RunOutcome::Finished(finished) => {
            let (report, missing) = stored_pairwise_report(&finished.folder, &finished.info)?;
            print(&report, &missing, &finished.info, &finished.folder, args, context)?;
            Ok(finished.exit)
        }
    }
}

fn options(args: &PairwiseArgs) -> Result<PairwiseOptions, CommandFailure> {
    Ok(PairwiseOptions {
        systems: args.systems.clone(),
        columns: answer_columns(&args.columns)?,
        encoding: args.encoding,
        criteria: args.criteria.clone(),
        ties: args.rank_ties,
        eval: EvalOptions {
            paths: args.suite.clone(),
            targets_file: args.targets.clone(),
            filter: args.filter.clone(),
            tags: args.tag.clone(),
            roots: args.root.clone(),
            dry_run: args.dry_run,
            run: args.run.options(),
            ..EvalOptions::default()
        },
    })
}

/// Prints a stored comparison again.
fn print_again(
    args: &PairwiseArgs,
    folder: &RunFolder,
    mut info: RunInfo,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let (report, missing) = stored_pairwise_report(folder, &info)?;
    let ending = RunEnding::of_stored(&info);
    if ending.unfinished {
        output::print_warning("the comparison did not finish; only its finished cases are compared", context);
    }

    let (exit, reason) = conclusion(&report, &missing, ending);
    if let Some(summary) = &mut info.summary {
        summary.exit_code = exit.code();
        summary.exit_reason = reason;
    }

    print(&report, &missing, &info, folder, args, context)?;
    Ok(exit)
}

fn print(
    report: &PairwiseReport,
    missing: &[String],
    info: &RunInfo,
    folder: &RunFolder,
    args: &PairwiseArgs,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let json = || {
        let mut value = summary_json(info, folder.path());
        if let Value::Object(members) = &mut value {
            // Thresholds have no meaning for a choice between two answers.
            for unrelated in ["counts", "mean_score", "metrics"] {
                members.remove(unrelated);
            }
            members.insert(info.command.clone(), pairwise_json(report, missing));
        }

        value
    };
    if args.run.output().deliver(json)? {
        return Ok(());
    }

    if args.markdown {
        output::print(&render_pairwise_markdown(report, missing));
        return Ok(());
    }

    output::print(&render_pairwise(report, missing, context.stdout));

    present::print_footer(info, folder.path(), context);
    Ok(())
}
