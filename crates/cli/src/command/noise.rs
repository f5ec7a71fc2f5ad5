//! `assize calibrate noise`: the noise of repeated scores, from tables or from runs.

use std::path::{Path, PathBuf};

use assize_analysis::repeats::analyze_repeats;
use assize_analysis::total_error::{JudgedScores, TotalError};
use assize_engine::{ExitStatus, concluded_info, metrics, runs, stored_records};
use assize_report::{
    ErrorDesigns, render_noise, render_repeats, render_total_error, repeats_json, total_error_json,
};
use assize_stats::UndefinedReason;
use assize_table::is_table;
use serde_json::json;

use super::compared_run::warn_of_missing;
use super::labels;
use crate::args::NoiseArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn execute(args: &NoiseArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let names: Option<Vec<String>> =
        args.files.iter().map(|file| only_run(std::slice::from_ref(file), context)).collect();
    match names {
        Some(names) => of_runs(args, &names, context),
        None => of_tables(args, context),
    }
}

/// The name of a run, if only that was given and no tables.
pub(super) fn only_run(files: &[PathBuf], context: &CliContext) -> Option<String> {
    let [only] = files else { return None };
    let path = context.process.working_folder.join(only);
    let is_run = !path.is_file() && (path.is_dir() || !is_table_or_json(only));

    is_run.then(|| only.to_string_lossy().into_owned())
}

/// Returns true if a name looks like a file of rows, perhaps misspelt: names of runs have no extension.
fn is_table_or_json(path: &Path) -> bool {
    is_table(path)
        || path
            .extension()
            .is_some_and(|ending| ["jsonl", "ndjson", "json"].iter().any(|known| ending == *known))
}

/// The noise in tables: of repeated scores, or of the decisions of several judges.
fn of_tables(args: &NoiseArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let rows = labels::read_label_rows(&args.files, &args.table, &[])?;
    let mut scores = JudgedScores::default();
    rows.iter().filter(|row| !row.first_failure).for_each(|row| scores.add_row(row));
    let has_scores = rows.iter().any(|row| !row.scores.is_empty());
    let is_labelled = !has_scores && rows.iter().any(|row| !row.labels.is_empty());
    // Repeated scores by several judges or prompts.
    if is_labelled || has_scores && scores.is_crossed() {
        let found = total_error(args, &scores)?;
        let designs = designs(args, &found);
        output::print_either(
            args.table.json,
            || json!({ "total_error": total_error_json(&found, designs.as_ref()) }),
            || render_total_error(&found, designs.as_ref(), context.stdout),
        );
        return Ok(ExitStatus::Passed);
    }

    let rows =
        labels::read_label_rows(&args.files, &args.table, &[assize_analysis::labels::ColumnRole::Scores])?;
    let found = analyze_repeats(&rows, args.right, &args.k, args.table.level)
        .map_err(|problems| labels::format_problems(&problems))?;
    output::print_either(args.table.json, || repeats_json(&found), || render_repeats(&found, context.stdout));

    Ok(ExitStatus::Passed)
}

/// The noise of stored runs: of answers and of judging separately if both were repeated, and of judges and
/// prompts if several decided on the same answers.
fn of_runs(args: &NoiseArgs, names: &[String], context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if args.right.is_some() {
        return Err("`--right` needs tables; a run has no right answer".into());
    }

    let mut scores = JudgedScores::default();
    for name in names {
        let folder = runs::find_run(name, &context.process)?;
        warn_of_missing(&concluded_info(&folder, &context.process)?, name, "measured", context);
        for record in stored_records(&folder)? {
            scores.add_record(&record?);
        }
    }
    let crossed = if scores.is_crossed() || args.width.is_some() || names.len() > 1 {
        Some(total_error(args, &scores)?)
    } else {
        None
    };
    let designs = crossed.as_ref().and_then(|found| designs(args, found));
    let single = match names {
        [name] => Some(metrics::from_run(&runs::find_run(name, &context.process)?)?),
        _ => None,
    };

    if args.table.json {
        let mut object = single.as_ref().map_or_else(|| json!({}), assize_report::noise_json);
        object["total_error"] =
            crossed.as_ref().map(|found| total_error_json(found, designs.as_ref())).into();
        output::print_json(&object);
        return Ok(ExitStatus::Passed);
    }
    if let Some(single) = &single {
        output::print(&render_noise(single, context.stdout));
    }
    if let Some(found) = &crossed {
        let gap = if single.is_some() { "\n" } else { "" };
        let text = render_total_error(found, designs.as_ref(), context.stdout);
        output::print(&format!("{gap}{text}"));
    }

    Ok(ExitStatus::Passed)
}

fn total_error(args: &NoiseArgs, scores: &JudgedScores) -> Result<TotalError, CommandFailure> {
    scores.estimate(args.table.resampling()).map_err(|reason| match reason {
        UndefinedReason::NoValues => "no answer has decisions that all judges and prompts made".into(),
        UndefinedReason::OneValue => {
            "the error of judges and prompts needs at least two cases, and two judges or two prompts that decided on the same answers"
                .into()
        }
        reason => reason.to_string().into(),
    })
}

fn designs(args: &NoiseArgs, found: &TotalError) -> Option<ErrorDesigns> {
    let width = args.width?;
    Some((width, found.designs(width, args.table.level, args.answer_cost)))
}
