//! Output of a run: the cases, then the summary.

use std::path::Path;

use assize_engine::{FinishedRun, stored_records, summary_json};
use assize_report::{
    CaseDetailLevel, SummaryExtra, render_case, render_case_table, render_summary, stored_texts,
};
use assize_rubric::Verdict;
use assize_run::RunTotals;
use assize_store::{CaseRecord, ResultRow, RunInfo, first_in_order};

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

/// Limit of records held at a time to print them in the order of the files.
const MAX_HELD: usize = 1024;

/// Prints the results of a run that has ended.
pub(super) fn finished_run(
    run: &FinishedRun,
    args: &RunArgs,
    context: &CliContext,
) -> Result<(), CommandFailure> {
    let FinishedRun { folder, info, totals, .. } = run;
    if args.json {
        output::print_json(&summary_json(info, folder.path()));
        return Ok(());
    }

    self::run(|| stored_records(folder), info, totals, folder.path(), args.show, context)
}

/// Prints the cases of a run according to `show`, in the order of the files, and its summary. `records` reads
/// the run from its beginning.
pub(crate) fn run<I, E>(
    records: impl Fn() -> Result<I, E>,
    info: &RunInfo,
    totals: &RunTotals,
    folder: &Path,
    show: ShowChoice,
    context: &CliContext,
) -> Result<(), CommandFailure>
where
    I: Iterator<Item = Result<CaseRecord, E>>,
    E: Into<CommandFailure>,
{
    let total = info.summary.as_ref().map_or(0, |summary| summary.counts.total());
    let everything = show == ShowChoice::All || (show == ShowChoice::Auto && total <= SMALL_RUN);
    let needs_attention = |record: &CaseRecord| everything || record.result.verdict != Verdict::Pass;
    let read = |after, most| {
        let records = records().map_err(Into::into)?;
        first_in_order(records, needs_attention, after, most).map_err(Into::into)
    };

    match show {
        ShowChoice::None => {}
        ShowChoice::Auto if !everything => {
            let (records, found) = read(None, MAX_FULL + MAX_TABLE)?;
            let more = found - records.len();
            let mut records = records.into_values();

            for record in records.by_ref().take(MAX_FULL) {
                print_full(&record, context);
            }

            let table: Vec<ResultRow> = records.map(|record| record.result).collect();
            if !table.is_empty() {
                output::print(&render_case_table(&table, more, context.stdout));
                output::print("\n");
            }
        }
        ShowChoice::All | ShowChoice::Failed | ShowChoice::Auto => {
            let mut after = None;
            loop {
                let (records, found) = read(after, MAX_HELD)?;
                let is_last = found <= records.len();
                after = records.last_key_value().map(|(place, _)| *place);

                for record in records.values() {
                    print_full(record, context);
                }
                if is_last {
                    break;
                }
            }
        }
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
