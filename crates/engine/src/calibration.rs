//! Compares the judges of a stored run with labels.

use std::path::{Path, PathBuf};

use assize_analysis::calibrate::{
    CalibrationMaterial, CalibrationOptions, CalibrationReport, RunItems, SplitChoice, calibrate, from_run,
    label_filter,
};
use assize_analysis::labels::{
    ColumnRole, LabelLocation, LabelProblem, LabelReadOptions, LabelRow, describe_problems, label_files,
    read_rows,
};
use assize_stats::agreement::RatingScale;
use assize_store::{RunFolder, RunInfo};

use crate::error::EngineError;
use crate::labels::label_folders;
use crate::process::ProcessContext;

/// The most problems of label files that a message lists.
const MAX_PROBLEMS: usize = 5;

/// Judged items of a run, without labels yet.
#[derive(Debug)]
pub struct MeasuredRun {
    /// The items.
    pub material: CalibrationMaterial,
    /// Scores that judges can give.
    pub scale: Option<RatingScale>,
    /// Notes about the run.
    pub notes: Vec<String>,
    /// True if the run did not finish all of its cases.
    pub is_partial: bool,
}

impl MeasuredRun {
    /// Reads the decisions of the judges of a run.
    ///
    /// # Errors
    /// If the run can't be read, or has no decisions about criteria.
    pub fn read(folder: &RunFolder, info: &RunInfo) -> Result<Self, EngineError> {
        let RunItems { material, reworded, other_graders } = from_run(info, folder.cases()?)?;
        if material.items.is_empty() {
            let shown = folder.path().display();
            return Err(EngineError::usage(format!("`{shown}` has no decisions about criteria")));
        }

        let mut notes = Vec::new();
        if !reworded.is_empty() {
            notes.push(format!(
                "these criterion ids have different texts in different cases, so their rows mix criteria: {}; give each criterion its own id",
                reworded.join(", ")
            ));
        }
        if other_graders > 0 {
            notes.push(format!("{other_graders} decisions of graders other than rubrics are not measured"));
        }

        Ok(Self {
            material,
            // Scores of a run are raw scores in the range 0 to 10.
            scale: RatingScale::new((0..=10).map(f64::from)).ok(),
            notes,
            is_partial: info.finished_at.is_none()
                || info.summary.as_ref().is_some_and(|summary| summary.not_run + summary.excluded > 0),
        })
    }
}

/// Measures the judges of a run with the labels beside its files, as `assize calibrate RUN --labels FOLDER` does; `None` if
/// there are none.
///
/// # Errors
/// If the run or the labels can't be read, or no label matches a judged item.
pub fn calibrate_run(
    folder: &RunFolder,
    info: &RunInfo,
    process: &ProcessContext,
) -> Result<Option<CalibrationReport>, EngineError> {
    let rows = label_rows(info, process)?;
    if rows.is_empty() {
        return Ok(None);
    }

    let MeasuredRun { mut material, scale, notes, is_partial } = MeasuredRun::read(folder, info)?;
    let usage = |error: assize_analysis::calibrate::MaterialError| EngineError::usage(error.to_string());
    material.attach_labels(&rows, label_filter(SplitChoice::NotSeen, &[])).map_err(usage)?;
    let options = CalibrationOptions { scale, ..CalibrationOptions::default() };
    let mut report = calibrate(material, &options).map_err(usage)?;
    report.notes.extend(notes);
    report.is_partial = is_partial;

    Ok(Some(report))
}

/// The labels beside the files of a run; empty without any.
///
/// # Errors
/// If a file of labels can't be read.
pub fn label_rows(info: &RunInfo, process: &ProcessContext) -> Result<Vec<LabelRow>, EngineError> {
    let folders = label_folders(info, process);
    // A folder that does not exist holds no labels.
    let files: Vec<PathBuf> =
        folders.iter().filter_map(|folder| label_files(folder).ok()).flatten().collect();
    let reading = LabelReadOptions { needed: vec![ColumnRole::Case], ..LabelReadOptions::default() };
    let mut rows = read_rows(&files, &reading).map_err(|mut problems| {
        name_files(problems.iter_mut().map(|problem| &mut problem.place), process);
        EngineError::usage(list(&problems))
    })?;
    name_files(rows.iter_mut().map(|row| &mut row.place), process);
    Ok(rows)
}

/// Shortens the paths of label files to start from the working folder, or from the folder of labels. Reports
/// are passed on, and should not reveal where a user keeps files.
fn name_files<'p>(places: impl Iterator<Item = &'p mut LabelLocation>, process: &ProcessContext) {
    for place in places {
        let file = &place.file;
        let inside = file.strip_prefix(&process.working_folder).map(Path::to_path_buf);
        let shown = inside.unwrap_or_else(|_| {
            let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
            Path::new(folder).join(file.file_name().unwrap_or_default())
        });
        place.file = shown.into();
    }
}

/// The first problems of label files, one per line.
fn list(problems: &[LabelProblem]) -> String {
    let lines = describe_problems(problems);
    let more = lines.len().saturating_sub(MAX_PROBLEMS);
    let mut shown: Vec<String> = lines.into_iter().take(MAX_PROBLEMS).collect();
    if more > 0 {
        shown.push(format!("and {more} more errors"));
    }

    shown.join("\n")
}
