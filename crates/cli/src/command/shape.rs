//! What differs between commands that run the cases of eval files: the items they make of them, and what they conclude.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_run::{Totals, WorkItem};
use assize_spec::{Case, Suite};
use assize_store::{RunFolder, RunInfo};

use super::present;
use super::session::{stored, summary_json};
use crate::args::RunArgs;
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::output;

/// Items, made when they are needed.
pub(crate) type Items<'i> = Box<dyn Iterator<Item = Result<WorkItem, String>> + 'i>;

/// A run that has ended.
pub(crate) struct Finished<'f> {
    pub(crate) folder: &'f RunFolder,
    pub(crate) info: &'f RunInfo,
    pub(crate) totals: &'f Totals,
    /// The first cases as planned.
    pub(crate) order: &'f [(String, String)],
}

/// What a command makes of cases. What is not said otherwise is as in `eval`.
pub(crate) trait Shape {
    /// The command's name.
    fn command(&self) -> &'static str {
        "eval"
    }

    /// The cases that are planned in place of one of an eval file.
    fn cases(&self, suite: &Suite, case: Arc<Case>) -> Result<Vec<Arc<Case>>, String> {
        let _ = suite;
        Ok(vec![case])
    }

    /// The items of the command, made of those of a plain run, which are so many.
    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let _ = count;
        items
    }

    /// How many items that are, when a plain run has `plain`; `items` are those of the command.
    fn total(&self, plain: usize, items: Items<'_>) -> Result<usize, String> {
        let _ = items;
        Ok(plain)
    }

    /// Settings beyond those of a plain run, for the record.
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The exit and why, in a few words.
    fn exit(&self, folder: &RunFolder, totals: &Totals, ending: Ending) -> (Exit, String) {
        let _ = folder;
        of_run(totals.counts, ending)
    }

    /// Prints the results.
    fn show(&self, run: &Finished<'_>, args: &RunArgs, context: &Context) -> Result<(), String> {
        let Finished { folder, info, totals, order } = run;
        if args.json {
            output::print_json(&summary_json(info, folder.path()));
            return Ok(());
        }
        present::run(stored(folder)?, info, totals, folder.path(), order, args.show, context)
    }
}

/// A plain run.
pub(crate) struct Ordinary;

impl Shape for Ordinary {}
