//! `assize scorecard run`.

use assize_analysis::{LabelSet, ScorecardRun};
use assize_engine::{
    EngineError, ExitStatus, FinishedRun, LabelOptions, ScoredCard, label_set, stored_records, summary_json,
};
use assize_report::render_scorecard_run;
use assize_rubric::Verdict;
use assize_run::score_record;
use assize_store::ReviewRow;
use serde::Serialize;
use serde_json::Value;

use super::load::{load_valid, weight_set};
use super::show::{self, PrintedCard};
use crate::args::{DenyChoice, RunCardArgs, ShowChoice};
use crate::command::eval::print_outcome;
use crate::command::present::{self, print_full};
use crate::command::report;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output::{self, ResultOutput};
use crate::runtime::block_on;

pub(super) fn run(args: &RunCardArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    args.options(None).check()?;
    let loaded = load_valid(&args.path, &args.labels.options(), &args.root, context)?;
    if loaded.warnings > 0 && args.deny.contains(&DenyChoice::Warnings) {
        let warnings = loaded.warnings;
        return Err(format!("{warnings} warnings, denied with `--deny warnings`; nothing was run").into());
    }

    let set = weight_set(&loaded.scorecard, args.weights.as_deref())?;

    let engine = context.run_engine(args.run.quiet, args.run.output.json);
    let outcome = block_on(engine.run_scorecard(&loaded, &args.options(set)))?;
    print_outcome(outcome, &args.run, context, |finished| {
        let (delivery, show) = (args.run.output(), args.run.output.show());
        if finished.info.shard.is_some() {
            // The tree is scored when the shards are merged.
            return present::finished_run(finished, delivery, show, context);
        }

        let labels = &args.labels.options();
        let card = CardOutput { depth: args.result.depth, labels, delivery, show };
        print_run(finished, &label_set(&loaded.scorecard), &card, context)
    })
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

    let scored = ScoredCard::of_stored(&run, &info.settings).map_err(EngineError::from)?;
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
