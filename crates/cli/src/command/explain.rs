//! `assize explain`.

use std::collections::{HashMap, HashSet};

use assize_engine::{ExitStatus, LabelledRun, labelled_run, runs, stored_records};
use assize_report::{escape_unsafe, render_case_table};
use assize_rubric::Verdict;
use assize_run::score_record;
use assize_store::{CaseRecord, QuestionRow, ResultRow, RunFolder, StoreError, first_in_order};
use serde_json::{Value, json};

use super::compare::warn_of_missing;
use super::present::shell_word;
use super::scorecard;
use crate::args::ExplainArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Ids kept for a hint when the case is not there.
const MAX_HINT_IDS: usize = 10_000;
/// Cases that are listed to choose from.
const MAX_LISTED: usize = 40;

pub(crate) fn execute(args: &ExplainArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let folder = runs::find_run(&args.run, &context.process)?;
    warn_of_missing(&folder.info()?, &args.run, "shown", context);
    let Some(case) = &args.case else { return list_cases(&folder, args, context) };
    let is_card = folder.info()?.scorecard.is_some();
    let labelled =
        is_card.then(|| labelled_run(&folder, &args.labels.options(), &context.process)).transpose()?;
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

    let labels = labelled.as_ref().and_then(|labelled| Some((labelled.labels.as_ref()?, &labelled.run.info)));

    let mut found: Vec<CaseRecord> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for record in folder.cases()? {
        let mut record = record?;
        let row = &record.result;
        let wanted = *row.case_id == **case && is_selected(row, args);
        if wanted {
            if let Some((labels, info)) = labels {
                labels.apply(&mut record, info);
                record.result = score_record(&record.result, &record.decisions);
            }

            found.push(record);
        } else if ids.len() < MAX_HINT_IDS {
            ids.push(record.result.case_id.to_string());
        }
    }

    if found.is_empty() {
        let hint = match assize_diagnostic::did_you_mean(case, ids.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if ids.is_empty() => "the run has no finished case".to_owned(),
            None => format!("its cases are {}", preview(&ids)),
        };
        return Err(format!("no case `{case}` in `{}`; {hint}", folder.path().display()).into());
    }

    let asked = questions(&folder, &found)?;
    let asked_of = |record: &CaseRecord| asked.get(record.result.case_hash.as_deref()?);

    if args.json {
        let explained: Vec<_> =
            found.iter().map(|record| assize_report::explanation_json(record, asked_of(record))).collect();
        output::print_json(&match <[_; 1]>::try_from(explained) {
            Ok([only]) => only,
            Err(several) => serde_json::Value::Array(several),
        });
    } else {
        for (index, record) in found.iter().enumerate() {
            if index > 0 {
                output::print("\n");
            }
            output::print(&assize_report::render_explanation(record, asked_of(record), context.stdout));
        }
    }

    Ok(ExitStatus::Passed)
}

/// Returns true if a result is of the suite and the target asked for.
fn is_selected(row: &ResultRow, args: &ExplainArgs) -> bool {
    args.suite.as_ref().is_none_or(|suite| **suite == *row.suite)
        && args.target.as_ref().is_none_or(|target| Some(target.as_str()) == row.target.as_deref())
}

/// Lists cases to choose from, in the order of the files; of many, those that did not pass.
fn list_cases(
    folder: &RunFolder,
    args: &ExplainArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let most = if args.json { usize::MAX } else { MAX_LISTED };
    let read = |wanted: &dyn Fn(&CaseRecord) -> bool| -> Result<_, CommandFailure> {
        let selected = |record: &CaseRecord| is_selected(&record.result, args) && wanted(record);
        Ok(first_in_order(stored_records(folder)?, selected, None, most)?)
    };

    let (mut records, mut found) = read(&|_| true)?;
    let mut which = "";
    if found > records.len() {
        let failing = read(&|record| record.result.verdict != Verdict::Pass)?;
        if failing.1 > 0 {
            (records, found) = failing;
            which = "did not pass: ";
        }
    }

    let rows: Vec<ResultRow> = records.into_values().map(|record| record.result).collect();
    if args.json {
        let listed = rows.iter().map(|row| {
            json!({
                "case_id": row.case_id, "suite": row.suite, "target": row.target, "repeat": row.repeat,
                "score": row.score, "verdict": row.verdict,
            })
        });
        output::print_json(&Value::Array(listed.collect()));
        return Ok(ExitStatus::Passed);
    }
    let Some(first) = rows.first() else {
        return Err(format!("`{}` has no finished case to explain", folder.path().display()).into());
    };

    output::print(&render_case_table(&rows, found - rows.len(), context.stdout));
    let cases = if found == 1 { "case" } else { "cases" };
    let command = format!("assize explain {} {}", shell_word(&args.run), shell_word(&first.case_id));
    output::print_notice(
        &format!("{which}{found} {cases}; choose one: `{}`\n", escape_unsafe(&command)),
        context,
    );

    Ok(ExitStatus::Passed)
}

/// Reads what the cases of these records asked, by the hash of it.
fn questions(folder: &RunFolder, records: &[CaseRecord]) -> Result<HashMap<String, QuestionRow>, StoreError> {
    let wanted: HashSet<&str> =
        records.iter().filter_map(|record| record.result.case_hash.as_deref()).collect();
    let mut found = HashMap::new();
    for row in folder.questions()? {
        let row = row?;
        if wanted.contains(row.case_hash.as_str()) {
            found.insert(row.case_hash.clone(), row);
        }
    }

    Ok(found)
}

fn preview(ids: &[String]) -> String {
    let mut first: Vec<String> = ids.iter().take(5).map(|id| format!("`{id}`")).collect();
    if ids.len() > first.len() {
        first.push("...".to_owned());
    }
    first.join(", ")
}
