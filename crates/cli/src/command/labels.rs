//! Reading of label tables for the commands that compute metrics from them.

use std::path::{Path, PathBuf};

use assize_analysis::calibrate::MaterialError;
use assize_analysis::labels::{LabelProblem, Reading, Role, Row, read_rows};
use assize_report::safe;

use crate::args::TableArgs;

/// Limit of problems shown; further ones are only counted.
const MAX_SHOWN: usize = 50;

/// Reads the rows of label files and folders.
pub(super) fn rows(paths: &[PathBuf], table: &TableArgs, needed: &[Role]) -> Result<Vec<Row>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(files_of(path)?);
        } else {
            files.push(path.clone());
        }
    }
    let reading = Reading {
        columns: table.columns.clone().unwrap_or_default(),
        values: table.values.clone().unwrap_or_default(),
        needed: needed.to_vec(),
    };
    read_rows(&files, &reading).map_err(|problems| list(&problems))
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let known = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        path.is_file()
            && ending.is_some_and(|ending| ["jsonl", "ndjson", "csv", "tsv"].contains(&ending.as_str()))
    };
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(known).collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no .jsonl, .csv or .tsv files in it", folder.display()));
    }
    Ok(files)
}

/// Formats problems, one a line. They quote the files, so control characters are escaped.
pub(super) fn list(problems: &[LabelProblem]) -> String {
    let mut lines: Vec<String> =
        problems.iter().take(MAX_SHOWN).map(|problem| safe(&problem.to_string())).collect();
    if problems.len() > MAX_SHOWN {
        lines.push(format!("and {} more problems", problems.len() - MAX_SHOWN));
    }
    let count =
        if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
    format!("the labels have {count}; nothing was computed\n{}", lines.join("\n"))
}

/// Formats an error of matching labels with results.
pub(super) fn said(error: MaterialError) -> String {
    match error {
        MaterialError::Problems(problems) => list(&problems),
        nothing @ MaterialError::NothingMatches(_) => safe(&nothing.to_string()),
    }
}
