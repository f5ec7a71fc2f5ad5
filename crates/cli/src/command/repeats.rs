//! `assize repeats`: how noisy repeated scores are.

use assize_analysis::labels::Role;
use assize_analysis::repeats::repeats;

use super::labels;
use crate::args::RepeatsArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

pub(crate) fn execute(args: &RepeatsArgs, context: &Context) -> Result<Exit, String> {
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
