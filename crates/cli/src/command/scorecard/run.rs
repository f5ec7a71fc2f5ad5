//! `assize scorecard run`.

use assize_analysis::{LabelSet, ScorecardRun};
use assize_engine::{
    ExitStatus, FinishedRun, RunOutcome, ScoredCard, label_set, stored_records, summary_json,
};
use assize_report::render_scorecard_run;
use assize_rubric::Verdict;
use assize_run::score_record;
use assize_store::ReviewRow;
use serde::Serialize;
use serde_json::Value;

use super::load::{sound_with_labels, weight_set};
use super::show::{self, PrintedCard};
use crate::args::{DenyChoice, RunCardArgs, ShowChoice};
use crate::command::eval::print_plan;
use crate::command::present::print_full;
use crate::command::report;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;
use crate::runtime::block_on;

pub(super) fn run(args: &RunCardArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    args.options(None).check()?;
    let loaded = sound_with_labels(&args.path, &args.labels.options(), &args.root, context)?;
    if loaded.warnings > 0 && args.deny.contains(&DenyChoice::Warnings) {
        let warnings = loaded.warnings;
        return Err(format!("{warnings} warnings, and warnings are denied; nothing was run").into());
    }

    let set = weight_set(&loaded.scorecard, args.weights.as_deref())?;

    let engine = context.run_engine(args.run.quiet, args.run.json);
    match block_on(engine.run_scorecard(&loaded, &args.options(set)))? {
        RunOutcome::Planned(planned) => print_plan(&planned, &args.run, context),
        RunOutcome::Finished(finished) => {
            let labels = label_set(&loaded.scorecard);
            print(&finished, &labels, args, context)?;
            Ok(finished.exit)
        }
    }
}

/// Output of `--json`.
#[derive(Serialize)]
struct ScorecardRunJson<'a> {
    #[serde(flatten)]
    summary: Value,
    scorecard: PrintedCard<'a, &'a [ReviewRow]>,
}

fn print(
    finished: &FinishedRun,
    labels: &LabelSet,
    args: &RunCardArgs,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let FinishedRun { folder, info, .. } = finished;
    let run = ScorecardRun::with_labels(folder, info.scorecard.clone(), Some(labels))
        .map_err(|error| error.to_string())?;
    let review = run.review_rows();
    folder.write_review(&review)?;

    let policy = args.result.treat_missing;
    let scored = ScoredCard::new(&run.info, None, |place| run.tally(place), policy)?
        .with_distinct_cases(run.distinct_cases())
        .with_min_coverage(args.result.min_coverage);
    report::write_files(folder, &args.run.out, &args.labels.options(), policy, context)?;

    let json = || ScorecardRunJson {
        summary: summary_json(info, folder.path()),
        scorecard: show::printed(&scored, run.info.weight_set.as_deref(), run.label_counts(), &review),
    };
    if args.run.output().deliver(json)? {
        return Ok(());
    }

    let show_all = args.run.show == ShowChoice::All;
    if show_all || args.run.show == ShowChoice::Failed {
        for record in stored_records(folder)? {
            let mut record = record?;
            labels.apply(&mut record, &run.info);
            record.result = score_record(&record.result, &record.decisions);
            if show_all || record.result.verdict != Verdict::Pass {
                print_full(&record, context);
            }
        }
    }

    output::print(&show::text(&scored, args.result.depth, context));
    output::print(&render_scorecard_run(&run, info, &folder.path().display().to_string(), context.stdout));

    Ok(())
}
