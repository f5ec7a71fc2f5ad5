//! `assize calibrate agreement`: agreement between raters.

use std::path::PathBuf;

use assize_analysis::calibrate::{CalibrationMaterial, JudgeReadOptions, LabelInclusion};
use assize_analysis::labels::{ColumnRole, LabelRow};
use assize_analysis::raters::{first_failures, rater_agreement};
use assize_engine::ExitStatus;
use assize_report::{agreement_json, render_agreement};

use super::labels;
use crate::args::TableArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Prints how far the raters in these files and folders agree.
pub(super) fn print(
    files: &[PathBuf],
    table: &TableArgs,
    context: &CliContext,
) -> Result<ExitStatus, CommandFailure> {
    let rows = labels::read_label_rows(files, table, &[ColumnRole::Case, ColumnRole::Label])?;
    let reading = JudgeReadOptions { threshold: 0.5, rater: None, likeliest: false };
    let failures = first_failures(&rows, table.resampling());

    // A first failure is no evidence about the other benchmarks of its case, so it is not a verdict on any of them.
    let verdicts: Vec<LabelRow> = rows.into_iter().filter(|row| !row.first_failure).collect();
    let material = CalibrationMaterial::from_rows(&verdicts, &reading, |_| LabelInclusion::Included)
        .map_err(labels::format_material_error)?;
    let mut found = rater_agreement(&material, table.scale.as_ref(), table.resampling());
    found.extend(failures);

    output::print_either(table.json, || agreement_json(&found), || render_agreement(&found, context.stdout));

    Ok(ExitStatus::Passed)
}
