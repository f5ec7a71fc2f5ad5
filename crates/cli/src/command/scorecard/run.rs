//! `assize scorecard run`.

use assize_analysis::{LabelSet, ScorecardRun, min_coverage, missing_policy};
use assize_engine::{
    EngineError, ExitStatus, FinishedRun, LabelOptions, RunOutcome, ScoredCard, label_set, stored_records,
    summary_json,
};
use assize_report::render_scorecard_run;
use assize_rubric::Verdict;
use assize_run::score_record;
use assize_store::ReviewRow;
use serde::Serialize;
use serde_json::Value;

use super::load::{load_valid_with_labels, weight_set};
use super::show::{self, PrintedCard};
use crate::args::{DenyChoice, RunCardArgs, ShowChoice};
use crate::command::eval::{print_export, print_plan};
use crate::command::present::{self, print_full};
use crate::command::report;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};
use crate::runtime::block_on;

pub(super) fn run(args: &RunCardArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    args.options(None).check()?;
    let loaded = load_valid_with_labels(&args.path, &args.labels.options(), &args.root, context)?;
    if loaded.warnings > 0 && args.deny.contains(&DenyChoice::Warnings) {
        let warnings = loaded.warnings;
        return Err(format!("{warnings} warnings, denied with `--deny warnings`; nothing was run").into());
    }

    let set = weight_set(&loaded.scorecard, args.weights.as_deref())?;

    let engine = context.run_engine(args.run.quiet, args.run.output.json);
    match block_on(engine.run_scorecard(&loaded, &args.options(set)))? {
        RunOutcome::Planned(planned) => print_plan(&planned, &args.run, context),
        RunOutcome::Exported(report) => print_export(&report, args.run.output(), context),
        RunOutcome::Finished(finished) => {
            let labels = label_set(&loaded.scorecard);
            let (delivery, show) = (args.run.output(), args.run.output.show());
            if finished.info.shard.is_some() {
                // The tree is scored when the shards are merged.
                present::finished_run(&finished, delivery, show, context)?;
                return Ok(finished.exit);
            }

            let card =
                CardOutput { depth: args.result.depth, labels: &args.labels.options(), delivery, show };
            print_run(&finished, &labels, &card, context)?;
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

/// How to score and print the run of a scorecard.
pub(in crate::command) struct CardOutput<'a> {
    /// Levels of the tree to print.
    pub(in crate::command) depth: Option<usize>,
    pub(in crate::command) labels: &'a LabelOptions,
    pub(in crate::command) delivery: ResultOutput<'a>,
    /// Cases to print in full.
    pub(in crate::command) show: ShowChoice,
}

/// Prints the tree of a finished run, and writes the list of decisions that people must still make.
pub(in crate::command) fn print_run(
    finished: &FinishedRun,
    labels: &LabelSet,
    card: &CardOutput<'_>,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let FinishedRun { folder, info, .. } = finished;
    let run = ScorecardRun::with_labels(folder, info.scorecard.clone(), Some(labels))
        .map_err(|error| error.to_string())?;
    let review = run.review_rows();
    folder.write_review(&review)?;

    let settings = &info.settings;
    let scored = ScoredCard::of_run(&run, None, missing_policy(settings), min_coverage(settings))
        .map_err(EngineError::from)?;
    report::write_files(folder, card.delivery.out, card.labels, context)?;

    let json = || ScorecardRunJson {
        summary: summary_json(info, folder.path()),
        scorecard: show::printed(&scored, run.info.weight_set.as_deref(), run.label_counts(), &review),
    };
    if card.delivery.deliver(json)? {
        return Ok(());
    }

    let show_all = card.show == ShowChoice::All;
    if show_all || matches!(card.show, ShowChoice::Failed | ShowChoice::Verbose) {
        for record in stored_records(folder)? {
            let mut record = record?;
            labels.apply(&mut record, &run.info);
            record.result = score_record(&record.result, &record.decisions);
            if show_all || record.result.verdict != Verdict::Pass {
                print_full(&record, context);
            }
        }
    }

    output::print(&show::text(&scored, card.depth, context));
    output::print(&render_scorecard_run(&run, info, &folder.path().display().to_string(), context.stdout));

    Ok(())
}
