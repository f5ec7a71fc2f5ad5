//! Output of a run: the cases, then the summary.

use std::collections::HashMap;
use std::path::Path;

use assize_engine::{FinishedRun, stored_records, summary_json};
use assize_report::{
    CaseDetailLevel, SummaryExtra, render_case, render_case_table, render_summary, stored_texts,
};
use assize_rubric::Verdict;
use assize_run::RunTotals;
use assize_store::{CaseRecord, ResultRow, RunInfo};

use crate::args::{RunArgs, ShowChoice};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Size of a run up to which `auto` prints all cases in full.
const SMALL_RUN: usize = 12;
/// Limit of cases that did not pass and are printed in full in a larger run.
const MAX_FULL: usize = 5;
/// Limit of further such cases, printed as a table.
const MAX_TABLE: usize = 40;

/// Prints the results of a run that has ended.
pub(super) fn finished_run(
    run: &FinishedRun,
    args: &RunArgs,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let FinishedRun { folder, info, totals, order, .. } = run;
    if args.json {
        output::print_json(&summary_json(info, folder.path()));
        return Ok(());
    }

    self::run(stored_records(folder)?, info, totals, folder.path(), order, args.show, context)
}

/// Prints the cases of a run according to `show`, and its summary. `order` lists (suite, case id) as planned:
/// a small run is printed in that order rather than in the order of completion.
pub(crate) fn run(
    records: impl Iterator<Item = Result<CaseRecord, impl Into<CommandFailure>>>,
    info: &RunInfo,
    totals: &RunTotals,
    folder: &Path,
    order: &[(String, String)],
    show: ShowChoice,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let total = info.summary.as_ref().map_or(0, |summary| summary.counts.total());
    let everything = show == ShowChoice::All || (show == ShowChoice::Auto && total <= SMALL_RUN);
    let mut full: Vec<CaseRecord> = Vec::new();
    let mut table: Vec<ResultRow> = Vec::new();
    let mut more = 0;
    if show != ShowChoice::None {
        for record in records {
            let record = record.map_err(Into::into)?;
            if everything && total > SMALL_RUN {
                print_full(&record, context);
            } else if everything {
                full.push(record);
            } else if record.result.verdict == Verdict::Pass {
                // Only cases that need attention are shown.
            } else if show == ShowChoice::Failed {
                print_full(&record, context);
            } else if full.len() < MAX_FULL {
                full.push(record);
            } else if table.len() < MAX_TABLE {
                table.push(record.result);
            } else {
                more += 1;
            }
        }
    }

    if total <= SMALL_RUN {
        let place: HashMap<(&str, &str), usize> = order
            .iter()
            .enumerate()
            .map(|(at, (suite, case))| ((suite.as_str(), case.as_str()), at))
            .collect();
        let key = |record: &CaseRecord| {
            let row = &record.result;
            let at = place.get(&(&*row.suite, &*row.case_id)).copied();
            (at.unwrap_or(usize::MAX), row.repeat)
        };
        full.sort_by_key(key);
    }

    for record in &full {
        print_full(record, context);
    }

    if !table.is_empty() {
        output::print(&render_case_table(&table, more, context.stdout));
        output::print("\n");
    }

    let extra = SummaryExtra {
        folder: Some(&folder.display().to_string()),
        gated: Some(totals.gated),
        quotes: Some((totals.quotes_verified, totals.quotes)),
        worst: &[],
    };

    output::print(&render_summary(info, extra, context.stdout));
    Ok(())
}

pub(crate) fn print_full(record: &CaseRecord, context: &CliContext) {
    let texts = stored_texts(&record.decisions);
    output::print(&render_case(&record.result, &texts, CaseDetailLevel::Full, context.stdout));
    output::print("\n");
}
