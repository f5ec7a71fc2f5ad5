//! `assize agreement`: raters among themselves.

use assize_analysis::calibrate::{JudgeReading, Keep, Material};
use assize_analysis::labels::Role;
use assize_analysis::raters::agreement;

use super::labels;
use crate::args::AgreementArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

pub(crate) fn execute(args: &AgreementArgs, context: &Context) -> Result<Exit, String> {
    let rows = labels::rows(&args.files, &args.table, &[Role::Case, Role::Label])?;
    let reading = JudgeReading { threshold: 0.5, rater: None, likeliest: false };
    let material = Material::from_rows(&rows, &reading, |_| Keep::Yes).map_err(labels::said)?;
    let found = agreement(&material, args.table.scale.as_ref(), args.table.resampling());
    if args.table.json {
        output::print_json(&assize_report::agreement_json(&found));
    } else {
        output::print(&assize_report::agreement(&found, context.stdout));
    }
    Ok(Exit::Passed)
}
