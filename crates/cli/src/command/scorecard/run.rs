//! `assize scorecard run`.

use assize_analysis::CardRun;
use assize_engine::{Exit, FinishedRun, RunOutcome, ScoredCard, stored_records, summary_json};
use assize_report::{CardPage, card_run_lines};
use assize_rubric::Verdict;
use assize_store::ReviewRow;
use serde::Serialize;
use serde_json::Value;

use super::show::{self, PrintedCard};
use super::{sound, weight_set};
use crate::args::{Deny, RunCardArgs, ShowChoice};
use crate::command::eval::print_plan;
use crate::command::present::print_full;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;
use crate::runtime::block_on;

pub(super) fn run(args: &RunCardArgs, context: &Context) -> Result<Exit, Failure> {
    args.options(None).check()?;
    let loaded = sound(&args.path, &args.root, context)?;
    if loaded.warnings > 0 && args.deny.contains(&Deny::Warnings) {
        let warnings = loaded.warnings;
        return Err(format!("{warnings} warnings, and warnings are denied; nothing was run").into());
    }
    let set = weight_set(&loaded.scorecard, args.weights.as_deref())?;

    let engine = context.run_engine(args.run.quiet, args.run.json);
    match block_on(engine.run_scorecard(&loaded, &args.options(set)))? {
        RunOutcome::Planned(planned) => Ok(print_plan(&planned, &args.run, context)),
        RunOutcome::Finished(finished) => {
            print(&finished, args, context)?;
            Ok(finished.exit)
        }
    }
}

/// Output of `--json`.
#[derive(Serialize)]
struct WithCard<'a> {
    #[serde(flatten)]
    summary: Value,
    scorecard: PrintedCard<'a, &'a [ReviewRow]>,
}

fn print(finished: &FinishedRun, args: &RunCardArgs, context: &Context) -> Result<(), Failure> {
    let FinishedRun { folder, info, .. } = finished;
    let run = CardRun::of(folder, info.scorecard.clone()).map_err(|error| error.to_string())?;
    let review = run.review();
    folder.write_review(&review).map_err(|error| error.to_string())?;

    let policy = args.treat_missing.policy();
    let scored = ScoredCard::new(&run.info, None, |place| run.tally(place), policy)?;
    if let Some(path) = &args.markdown {
        show::write_markdown(&scored, path, &CardPage { run: Some((&run, info)) })?;
    }
    if args.run.json {
        output::stream_json(&WithCard {
            summary: summary_json(info, folder.path()),
            scorecard: show::printed(&scored, run.info.weight_set.as_deref(), &review),
        });
        return Ok(());
    }

    let show_all = args.run.show == ShowChoice::All;
    if show_all || args.run.show == ShowChoice::Failed {
        for record in stored_records(folder)? {
            let record = record?;
            if show_all || record.result.verdict != Verdict::Pass {
                print_full(&record, context);
            }
        }
    }
    output::print(&show::text(&scored, context));
    output::print(&card_run_lines(&run, info, &folder.path().display().to_string(), context.stdout));
    Ok(())
}
