//! `assize explain`.

use std::collections::{HashMap, HashSet};

use assize_engine::{ExitStatus, LabelledRun, labelled_run, runs};
use assize_run::score_record;
use assize_store::{CaseRecord, QuestionRow, RunFolder, StoreError};

use super::scorecard;
use crate::args::ExplainArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Ids kept for a hint when the case is not there.
const MAX_HINT_IDS: usize = 10_000;

pub(crate) fn execute(args: &ExplainArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let folder = runs::find_run(&args.run, &context.process)?;
    let is_card = folder.info()?.scorecard.is_some();
    let labelled =
        is_card.then(|| labelled_run(&folder, &args.labels.options(), &context.process)).transpose()?;
    if let Some(LabelledRun { run, warning, .. }) = &labelled {
        if let Some(warning) = warning {
            output::print_warning(warning, context);
        }
        if args.suite.is_none()
            && args.target.is_none()
            && scorecard::explain_node(run, &args.case, args.json, context)?
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
        let wanted = *row.case_id == *args.case
            && args.suite.as_ref().is_none_or(|suite| **suite == *row.suite)
            && args.target.as_ref().is_none_or(|target| Some(target.as_str()) == row.target.as_deref());
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
        let hint = match assize_diagnostic::did_you_mean(&args.case, ids.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if ids.is_empty() => "the run has no finished cases".to_owned(),
            None => format!("the run has {}", preview(&ids)),
        };
        return Err(format!("no case `{}` in `{}`; {hint}", args.case, folder.path().display()).into());
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
    let mut first: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
    if ids.len() > first.len() {
        first.push("...");
    }
    first.join(", ")
}
