//! `assize calibrate panel`: error rates of raters without known truth.

use assize_analysis::labels::ColumnRole;
use assize_analysis::panel::PanelVotes;
use assize_engine::{ExitStatus, runs, stored_records};
use assize_report::{panel_rates_json, render_panel_rates};
use assize_stats::UndefinedReason;

use super::{labels, noise};
use crate::args::PanelRatesArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn execute(args: &PanelRatesArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let mut votes = PanelVotes::default();
    let run = noise::only_run(&args.files, context);
    if let Some(name) = &run {
        for record in stored_records(&runs::find_run(name, &context.process)?)? {
            votes.add_record(&record?);
        }
    } else {
        let needed = [ColumnRole::Case, ColumnRole::Label];
        for row in labels::read_label_rows(&args.files, &args.table, &needed)? {
            if !row.first_failure {
                votes.add_row(&row);
            }
        }
    }

    let found = votes.estimate(args.table.resampling()).map_err(|reason| match (reason, &run) {
        (UndefinedReason::NoValues, Some(name)) => {
            format!("`{name}` has no votes of a panel on criteria that are met or unmet")
        }
        (UndefinedReason::NoValues, None) => "the tables have no verdicts".to_owned(),
        (UndefinedReason::TooFew, _) => "error rates without labels need at least three raters".to_owned(),
        (UndefinedReason::NotFinite, _) => {
            "error rates can't be estimated from these votes: the fit does not converge".to_owned()
        }
        (reason, _) => format!("error rates are undefined: {reason}"),
    })?;
    output::print_either(
        args.table.json,
        || panel_rates_json(&found),
        || render_panel_rates(&found, context.stdout),
    );

    Ok(ExitStatus::Passed)
}
