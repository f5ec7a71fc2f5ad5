//! `assize repeats`: how noisy repeated scores are, those of a table or those of a run.

use std::path::Path;

use assize_analysis::labels::Role;
use assize_analysis::repeats::repeats;
use assize_engine::{Exit, metrics, runs};

use super::labels;
use crate::args::RepeatsArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

pub(crate) fn execute(args: &RepeatsArgs, context: &Context) -> Result<Exit, Failure> {
    if let [only] = args.files.as_slice()
        && !context.process.working_folder.join(only).is_file()
        && (context.process.working_folder.join(only).is_dir() || !is_table(only))
    {
        return of_run(args, &only.to_string_lossy(), context);
    }
    let rows = labels::rows(&args.files, &args.table, &[Role::Scores])?;
    let found =
        repeats(&rows, args.right, &args.k, args.table.level).map_err(|problems| labels::list(&problems))?;
    if args.table.json {
        output::print_json(&assize_report::repeats_json(&found));
    } else {
        output::print(&assize_report::repeats(&found, context.stdout));
    }
    Ok(Exit::Passed)
}

/// Whether a name is that of a table, which may be misspelt: runs have no ending.
fn is_table(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["jsonl", "json", "csv", "tsv"].iter().any(|known| ending == *known))
}

/// The noise of a stored run: of answers and of judging, apart where both were repeated.
fn of_run(args: &RepeatsArgs, name: &str, context: &Context) -> Result<Exit, Failure> {
    if args.right.is_some() {
        return Err("`--right` is about tables; the noise of a run has no right answer".into());
    }
    let found = metrics::from_run(&runs::find(name, &context.process)?)?;
    if args.table.json {
        output::print_json(&assize_report::noise_json(&found));
    } else {
        output::print(&assize_report::noise(&found, context.stdout));
    }
    Ok(Exit::Passed)
}
