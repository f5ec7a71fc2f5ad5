//! `assize calibrate criteria`: finds criteria that measure nothing or duplicate others.

use assize_analysis::criteria::CriterionResponses;
use assize_analysis::labels::ColumnRole;
use assize_engine::{ExitStatus, runs, stored_records};
use assize_stats::UndefinedReason;

use super::{labels, noise};
use crate::args::CriteriaArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn execute(args: &CriteriaArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut responses = CriterionResponses::default();
    let mut tables = Vec::new();
    for file in &args.files {
        let Some(name) = noise::only_run(std::slice::from_ref(file), context) else {
            tables.push(file.clone());
            continue;
        };
        responses.begin_run();
        for record in stored_records(&runs::find_run(&name, &context.process)?)? {
            responses.add_record(&record?);
        }
    }
    if !tables.is_empty() {
        for row in labels::read_label_rows(&tables, &args.table, &[ColumnRole::Case, ColumnRole::Criterion])?
        {
            if !row.first_failure {
                responses.add_row(&row);
            }
        }
    }

    let found = responses.analyze(args.table.resampling()).map_err(|reason| match reason {
        UndefinedReason::NoValues => "there are no decisions about criteria".to_owned(),
        UndefinedReason::TooFew => {
            "no criterion was decided on five answers or more: criteria of single cases can't be compared"
                .to_owned()
        }
        reason => reason.to_string(),
    })?;
    if args.table.json {
        output::print_json(&assize_report::criteria_json(&found));
    } else {
        output::print(&assize_report::render_criteria(&found, context.stdout));
    }

    Ok(ExitStatus::Passed)
}
