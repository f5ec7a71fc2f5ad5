//! `assize report --format matrix`: runs, or the prompts and targets of a run, side by side.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use assize_analysis::matrix::{column_title, columns_of_run};
use assize_engine::{EngineError, write_report_file};
use assize_report::{MatrixForm, MatrixReport, MatrixSource};
use assize_store::{AnswerPart, CaseRecord, RunFolder};

use super::reported_run::{ReportedRun, failure};
use crate::args::{ReportFile, ReportFormat};
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Reads the runs as columns. A single run has a column for each of its prompts and targets.
pub(super) fn read(runs: &[ReportedRun], context: &CliContext) -> Result<MatrixReport, CommandFailure> {
    let mut columns: Vec<(String, &ReportedRun, AnswerPart)> = Vec::new();
    for run in runs {
        let whole = run.material.part.clone();
        let info = &run.material.info;
        let targets: Vec<String> = info.targets.iter().map(|target| target.name.clone()).collect();
        let is_one_run = runs.len() == 1;
        let of_run = if is_one_run && whole.is_whole() {
            columns_of_run(&prompts(&run.material.folder)?, &targets)
        } else {
            vec![whole]
        };
        let titled = |part: AnswerPart| (column_title(&part, info, &run.name, is_one_run), run, part);
        columns.extend(of_run.into_iter().map(titled));
    }

    let changes: Vec<_> = columns
        .iter()
        .map(|(_, run, _)| move |record: &mut CaseRecord| run.material.prepare(record))
        .collect();
    let sources: Vec<MatrixSource<'_>> = columns
        .iter()
        .zip(&changes)
        .map(|((name, run, part), prepare)| MatrixSource {
            name,
            folder: &run.material.folder,
            info: &run.material.info,
            part,
            prepare,
        })
        .collect();
    let report = MatrixReport::read(&sources).map_err(|error| failure(error, Path::new("the matrix")))?;
    if let Some(warning) = report.warning() {
        output::print_warning(warning, context);
    }

    Ok(report)
}

/// Names of the prompts of a run, in the order of the eval file.
fn prompts(folder: &RunFolder) -> Result<Vec<String>, CommandFailure> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for row in folder.results().map_err(EngineError::from)? {
        let row = row.map_err(EngineError::from)?;
        let Some(prompt) = row.prompt.as_deref() else { continue };
        let place = row.place.unwrap_or(u64::MAX);
        match found.iter_mut().find(|(_, known)| known == prompt) {
            Some((first, _)) => *first = place.min(*first),
            None => found.push((place, prompt.to_owned())),
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, prompt)| prompt).collect())
}

/// Writes the table to files, or as Markdown to stdout if there are none.
pub(super) fn write(
    matrix: &MatrixReport,
    files: &[ReportFile],
    context: &CliContext,
) -> Result<(), CommandFailure> {
    if files.is_empty() {
        let mut text = Vec::new();
        matrix.write(&mut text, MatrixForm::Markdown).map_err(|error| failure(error, Path::new("stdout")))?;
        return output::print_contents(&String::from_utf8_lossy(&text), context);
    }
    for file in files {
        let ReportFormat::Matrix(form) = file.format else { continue };
        output::create_parent(&file.path)?;
        let remarks = write_report_file(&file.path, |out: &mut BufWriter<File>| {
            matrix.write(out, form).map_err(|error| failure(error, &file.path))
        })?;
        for remark in remarks {
            output::print_warning(&format!("{}: {remark}", file.path.display()), context);
        }
    }
    Ok(())
}
