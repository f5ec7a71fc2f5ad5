//! `assize calibrate noise`: how noisy repeated scores are, those of a table or those of a run.

use std::path::{Path, PathBuf};

use assize_analysis::labels::ColumnRole;
use assize_analysis::repeats::analyze_repeats;
use assize_engine::{ExitStatus, metrics, runs};

use super::labels;
use crate::args::NoiseArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

pub(super) fn execute(args: &NoiseArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if let Some(name) = only_run(&args.files, context) {
        return of_run(args, &name, context);
    }

    let rows = labels::read_label_rows(&args.files, &args.table, &[ColumnRole::Scores])?;
    let found = analyze_repeats(&rows, args.right, &args.k, args.table.level)
        .map_err(|problems| labels::format_problems(&problems))?;
    if args.table.json {
        output::print_json(&assize_report::repeats_json(&found));
    } else {
        output::print(&assize_report::render_repeats(&found, context.stdout));
    }

    Ok(ExitStatus::Passed)
}

/// The name of a run, if that is all that was given instead of tables.
pub(super) fn only_run(files: &[PathBuf], context: &CliContext) -> Option<String> {
    let [only] = files else { return None };
    let path = context.process.working_folder.join(only);
    let is_run = !path.is_file() && (path.is_dir() || !is_table(only));

    is_run.then(|| only.to_string_lossy().into_owned())
}

/// Returns true if a name is that of a table, which may be misspelt: runs have no ending.
fn is_table(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["jsonl", "json", "csv", "tsv"].iter().any(|known| ending == *known))
}

/// The noise of a stored run: of answers and of judging, apart where both were repeated.
fn of_run(args: &NoiseArgs, name: &str, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if args.right.is_some() {
        return Err("`--right` needs tables; a run has no right answer".into());
    }

    let found = metrics::from_run(&runs::find_run(name, &context.process)?)?;
    if args.table.json {
        output::print_json(&assize_report::noise_json(&found));
    } else {
        output::print(&assize_report::render_noise(&found, context.stdout));
    }

    Ok(ExitStatus::Passed)
}
