//! `assize agreement`: raters among themselves.

use std::path::PathBuf;

use assize_analysis::calibrate::{JudgeReading, Keep, Material};
use assize_analysis::labels::{Role, Row};
use assize_analysis::raters::{agreement, first_failures};
use assize_engine::Exit;

use super::labels;
use crate::args::{AgreementArgs, TableArgs};
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

pub(crate) fn execute(args: &AgreementArgs, context: &Context) -> Result<Exit, Failure> {
    print(&args.files, &args.table, context)
}

/// Prints how far the raters in these files and folders agree.
pub(super) fn print(files: &[PathBuf], table: &TableArgs, context: &Context) -> Result<Exit, Failure> {
    let rows = labels::rows(files, table, &[Role::Case, Role::Label])?;
    let reading = JudgeReading { threshold: 0.5, rater: None, likeliest: false };
    let failures = first_failures(&rows, table.resampling());
    // Who names the first failure of a case says nothing about the others, so it is no verdict on one of them.
    let verdicts: Vec<Row> = rows.into_iter().filter(|row| !row.first_failure).collect();
    let material = Material::from_rows(&verdicts, &reading, |_| Keep::Yes).map_err(labels::said)?;
    let mut found = agreement(&material, table.scale.as_ref(), table.resampling());
    found.extend(failures);
    if table.json {
        output::print_json(&assize_report::agreement_json(&found));
    } else {
        output::print(&assize_report::agreement(&found, context.stdout));
    }
    Ok(Exit::Passed)
}
