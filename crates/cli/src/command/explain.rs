//! `assize explain`.

use assize_engine::{ExitStatus, runs};
use assize_store::CaseRecord;

use super::scorecard;
use crate::args::ExplainArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Ids kept for a hint when the case is not there.
const MAX_HINT_IDS: usize = 10_000;

pub(crate) fn execute(args: &ExplainArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let folder = runs::find_run(&args.run, &context.process)?;
    if args.suite.is_none()
        && args.target.is_none()
        && scorecard::explain_node(&folder, &args.case, args.json, context)?
    {
        return Ok(ExitStatus::Passed);
    }

    let mut found: Vec<CaseRecord> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for record in folder.cases().map_err(|error| error.to_string())? {
        let record = record.map_err(|error| error.to_string())?;
        let row = &record.result;
        let wanted = *row.case_id == *args.case
            && args.suite.as_ref().is_none_or(|suite| **suite == *row.suite)
            && args.target.as_ref().is_none_or(|target| Some(target.as_str()) == row.target.as_deref());
        if wanted {
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

    if args.json {
        let explained: Vec<_> = found.iter().map(assize_report::explanation_json).collect();
        output::print_json(&match <[_; 1]>::try_from(explained) {
            Ok([only]) => only,
            Err(several) => serde_json::Value::Array(several),
        });
    } else {
        for (index, record) in found.iter().enumerate() {
            if index > 0 {
                output::print("\n");
            }
            output::print(&assize_report::render_explanation(record, context.stdout));
        }
    }

    Ok(ExitStatus::Passed)
}

fn preview(ids: &[String]) -> String {
    let mut first: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
    if ids.len() > first.len() {
        first.push("...");
    }
    first.join(", ")
}
