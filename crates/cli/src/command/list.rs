//! `assize list`: the stored runs.

use assize_engine::{
    ExitStatus, concluded_info,
    runs::{self, RUNS_FOLDER},
};
use assize_report::{ListedRun, render_run_list, run_list_json};
use assize_store::RunInfo;

use crate::args::ListRunsArgs;
use crate::context::CliContext;
use crate::output;

/// Number of runs listed without `--all`.
const DEFAULT_COUNT: usize = 20;

pub(crate) fn execute(args: &ListRunsArgs, context: &CliContext) -> ExitStatus {
    let stored = runs::newest_first(&context.process).enumerate();
    let stored = stored.map(|(back, folder)| (runs::name_of(back), folder));
    let listed = stored.chain(runs::elsewhere(&context.process)).map(|(name, folder)| {
        let info = concluded_info(&folder, &context.process).map_err(|error| error.to_string());
        ListedRun::new(name, &folder, info)
    });
    let mut chosen: Vec<ListedRun> = listed.collect();
    ListedRun::shorten_ids(&mut chosen);
    if let Some(wanted) = &args.suite {
        let is_wanted = |info: &RunInfo| info.suites.iter().any(|suite| suite.name == *wanted);
        chosen.retain(|run| run.info.as_ref().is_ok_and(is_wanted));
    }

    if args.json {
        output::print_json(&run_list_json(&chosen));
        return ExitStatus::Passed;
    }
    if chosen.is_empty() {
        let message = match &args.suite {
            Some(suite) => format!("no run in `{RUNS_FOLDER}` holds a suite `{suite}`\n"),
            None => runs::no_runs(&context.process) + "\n",
        };
        output::print_notice(&message, context);
        return ExitStatus::Passed;
    }

    let found = chosen.len();
    if !args.all {
        chosen.truncate(DEFAULT_COUNT);
    }

    output::print(&render_run_list(&chosen, context.stdout));
    if found > chosen.len() {
        output::print(&format!("and {} older runs; `--all` lists them\n", found - chosen.len()));
    }

    ExitStatus::Passed
}
