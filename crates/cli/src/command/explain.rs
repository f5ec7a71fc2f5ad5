//! `assize explain`.

use std::cell::Cell;

use assize_engine::{
    CaseSelector, EngineError, ExitStatus, FoundCase, LabelledRun, concluded_info, find_cases, labelled_run,
    runs, stored_records, unknown_criterion, unknown_selection,
};
use assize_report::{
    criterion_cases_json, does_criterion_fail, escape_unsafe, render_case_table, render_criterion_cases,
    render_result_lines,
};
use assize_rubric::Verdict;
use assize_run::score_record;
use assize_store::{CaseRecord, ResultRow, RunFolder, RunInfo, first_in_order};
use serde_json::{Value, json};

use super::compared_run::warn_of_missing;
use super::present::explain_command;
use super::scorecard;
use crate::args::{ExplainArgs, shell_word};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Most cases that are listed to choose from.
const MAX_LISTED: usize = 40;

pub(crate) fn execute(args: &ExplainArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let folder = runs::find_run(&args.run, &context.process)
        .map_err(|error| case_as_run(args, context).unwrap_or_else(|| error.into()))?;
    let info = concluded_info(&folder, &context.process)?;
    warn_of_missing(&info, &args.run, "shown", context);
    let is_card = info.scorecard.is_some();
    let labelled =
        is_card.then(|| labelled_run(&folder, &args.labels.options(), &context.process)).transpose()?;
    if let Some(criterion) = &args.criterion {
        return list_failures(criterion, &folder, labelled.as_ref(), args, context);
    }
    let Some(case) = &args.case else {
        return list_cases(&folder, &info, labelled.as_ref(), args, context);
    };
    if let Some(LabelledRun { run, warning, .. }) = &labelled {
        if let Some(warning) = warning {
            output::print_warning(warning, context);
        }
        if args.suite.is_none()
            && args.target.is_none()
            && scorecard::explain_node(run, case, args.json, context)?
        {
            return Ok(ExitStatus::Passed);
        }
    }

    let found = find_cases(&folder, case, selector(args), labelled.as_ref())?;

    if args.json {
        let explained: Vec<_> = found
            .iter()
            .map(|found| assize_report::explanation_json(&found.record, found.question.as_ref()))
            .collect();
        output::print_json(&match <[_; 1]>::try_from(explained) {
            Ok([only]) => only,
            Err(several) => serde_json::Value::Array(several),
        });
    } else {
        for (index, found) in found.iter().enumerate() {
            if index > 0 {
                output::print("\n");
            }
            let FoundCase { record, question } = found;
            output::print(&assize_report::render_explanation(record, question.as_ref(), context.stdout));
        }
        print_result(&info, context);
    }

    Ok(ExitStatus::Passed)
}

/// Prints the result of the run.
fn print_result(info: &RunInfo, context: &CliContext) {
    let Some(summary) = &info.summary else { return };
    let (code, reason) = (summary.exit_code, &summary.exit_reason);
    output::print("\n");
    output::print(&render_result_lines(code, reason, &summary.conclusion, context.stdout));
}

/// The error if the id of a case was given instead of a run.
fn case_as_run(args: &ExplainArgs, context: &CliContext) -> Option<CommandFailure> {
    let last = runs::find_run("last", &context.process).ok().filter(|_| args.case.is_none())?;
    find_cases(&last, &args.run, selector(args), None).ok()?;
    let (id, command) = (&args.run, format!("assize explain last {}", shell_word(&args.run)));
    Some(format!("`{id}` is a case of the last run, not a run; explain it with `{command}`").into())
}

/// Selects the requested results.
fn selector(args: &ExplainArgs) -> CaseSelector<'_> {
    CaseSelector { suite: args.suite.as_deref(), target: args.target.as_deref() }
}

/// Reads the first records that are wanted, in the order of the files, with labels of people applied, and the number of all
/// of them.
fn first_records(
    folder: &RunFolder,
    labelled: Option<&LabelledRun>,
    args: &ExplainArgs,
    wanted: &dyn Fn(&CaseRecord) -> bool,
) -> Result<(Vec<CaseRecord>, usize), CommandFailure> {
    let labels = labelled.and_then(|labelled| Some((labelled.labels.as_ref()?, &labelled.run.info)));
    let with_labels = |record: Result<CaseRecord, EngineError>| {
        let mut record = record?;
        if let Some((labels, tree)) = labels {
            labels.apply(&mut record, tree);
            record.result = score_record(&record.result, &record.decisions);
        }
        Ok::<_, EngineError>(record)
    };
    let most = if args.json { usize::MAX } else { MAX_LISTED };
    let selected = |record: &CaseRecord| selector(args).takes(&record.result) && wanted(record);
    let (records, found) = first_in_order(stored_records(folder)?.map(with_labels), selected, None, most)?;

    Ok((records.into_values().collect(), found))
}

/// Prints the cases that a criterion counts against.
fn list_failures(
    criterion: &str,
    folder: &RunFolder,
    labelled: Option<&LabelledRun>,
    args: &ExplainArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let decided = Cell::new(0);
    let (records, found) = first_records(folder, labelled, args, &|record| {
        let fails = does_criterion_fail(&record.result, criterion);
        decided.set(decided.get() + usize::from(fails.is_some()));
        fails == Some(true)
    })?;
    if decided.get() == 0 {
        let selection = unknown_selection(folder, selector(args))?;
        return Err(selection.map_or_else(|| unknown_criterion(folder, criterion), Ok)?.into());
    }

    let more = found - records.len();
    let text = || render_criterion_cases(&records, criterion, decided.get(), more, context.stdout);
    output::print_either(args.json, || criterion_cases_json(&records, criterion), text);
    Ok(ExitStatus::Passed)
}

/// Lists cases to choose from, in the order of the files; if there are many, only cases that did not pass.
fn list_cases(
    folder: &RunFolder,
    info: &RunInfo,
    labelled: Option<&LabelledRun>,
    args: &ExplainArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let read = |wanted: &dyn Fn(&CaseRecord) -> bool| first_records(folder, labelled, args, wanted);
    let (mut records, mut found) = read(&|_| true)?;
    let mut which = "";
    if found > records.len() {
        let failing = read(&|record| record.result.verdict != Verdict::Pass)?;
        if failing.1 > 0 {
            (records, found) = failing;
            which = "did not pass: ";
        }
    }

    if found == 0
        && let Some(message) = unknown_selection(folder, selector(args))?
    {
        return Err(message.into());
    }

    let rows: Vec<ResultRow> = records.into_iter().map(|record| record.result).collect();
    if args.json {
        let listed = rows.iter().map(|row| {
            json!({
                "case_id": row.case_id, "test": row.test_id(), "prompt": row.prompt, "suite": row.suite, "target": row.target, "repeat": row.trial,
                "score": row.score, "verdict": row.verdict,
            })
        });
        output::print_json(&Value::Array(listed.collect()));
        return Ok(ExitStatus::Passed);
    }
    let Some(first) = rows.first() else {
        return Err(format!("`{}` has no finished case to explain", folder.path().display()).into());
    };

    output::print(&render_case_table(&rows, found - rows.len(), None, context.stdout));
    let cases = if found == 1 { "case" } else { "cases" };
    let all = if found > rows.len() { ", all of them with `--json`" } else { "" };
    let example = rows.iter().find(|row| row.verdict != Verdict::Pass).unwrap_or(first);
    let notes = info.summary.as_ref().and_then(|summary| summary.figures.as_ref());
    let notes: Vec<&String> = notes.iter().flat_map(|figures| &figures.precision_notes).collect();
    for (at, note) in notes.into_iter().enumerate() {
        let apart = if at == 0 { "\n" } else { "" };
        output::print_text(&format!("{apart}  {}\n", escape_unsafe(note)), context);
    }
    let command = explain_command(&shell_word(&args.run), info, &example.key());
    print_result(info, context);
    output::print_notice(
        &format!("{which}{found} {cases}{all}; choose one: `{}`\n", escape_unsafe(&command)),
        context,
    );

    Ok(ExitStatus::Passed)
}
