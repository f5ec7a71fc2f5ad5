//! Reads label tables for the commands that compute metrics from them.

use std::path::PathBuf;

use assize_analysis::calibrate::MaterialError;
use assize_analysis::labels::{
    ColumnMapping, ColumnRole, LabelProblem, LabelReadOptions, LabelRow, describe_problems, label_files,
    read_rows,
};
use assize_report::escape_unsafe;

use crate::args::TableArgs;
use crate::failure::CommandFailure;

/// Most problems that are shown; more are only counted.
const MAX_SHOWN_PROBLEMS: usize = 50;

/// Reads the rows of label files and folders.
pub(super) fn read_label_rows(
    paths: &[PathBuf],
    table: &TableArgs,
    needed: &[ColumnRole],
) -> Result<Vec<LabelRow>, CommandFailure> {
    let reading = LabelReadOptions {
        columns: ColumnMapping::merge(table.columns.iter().cloned())
            .map_err(|error| format!("`--columns`: {error}"))?,
        values: table.values.clone().unwrap_or_default(),
        encoding: table.encoding,
        needed: needed.to_vec(),
    };
    read_files(paths, &reading)
}

/// Reads the rows of label files and folders whose columns have their own names.
pub(super) fn read_plain_label_rows(paths: &[PathBuf]) -> Result<Vec<LabelRow>, CommandFailure> {
    read_files(paths, &LabelReadOptions { needed: vec![ColumnRole::Case], ..LabelReadOptions::default() })
}

fn read_files(paths: &[PathBuf], reading: &LabelReadOptions) -> Result<Vec<LabelRow>, CommandFailure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let found = label_files(path).map_err(|error| format!("{}: {error}", path.display()))?;
            if found.is_empty() {
                return Err(format!("{}: no .jsonl, .csv, .tsv or .xlsx files in it", path.display()).into());
            }
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }

    Ok(read_rows(&files, reading).map_err(|problems| format_problems(&problems))?)
}

/// Formats problems, one per line; a problem that a file repeats is shown once. They quote the files, so
/// control characters are escaped.
pub(super) fn format_problems(problems: &[LabelProblem]) -> String {
    let mut lines: Vec<String> =
        describe_problems(problems).iter().map(|problem| escape_unsafe(problem)).collect();
    if lines.len() > MAX_SHOWN_PROBLEMS {
        let more = lines.len() - MAX_SHOWN_PROBLEMS;
        lines.truncate(MAX_SHOWN_PROBLEMS);
        lines.push(format!("and {more} more errors"));
    }

    let count = if problems.len() == 1 { "1 error".to_owned() } else { format!("{} errors", problems.len()) };
    format!("the labels have {count}; nothing was computed\n{}", lines.join("\n"))
}

/// Formats an error of matching labels with results.
pub(super) fn format_material_error(error: MaterialError) -> String {
    match error {
        MaterialError::Problems(problems) => format_problems(&problems),
        nothing @ MaterialError::NothingMatches(_) => escape_unsafe(&nothing.to_string()),
    }
}
