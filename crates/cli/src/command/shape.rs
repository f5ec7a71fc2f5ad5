//! Run modes: the differences between commands that run the cases of eval files.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_evalfile::{Case, Suite};
use assize_rubric::RepeatStrategy;
use assize_run::{Totals, WorkItem};
use assize_store::{Counts, RunFolder, RunInfo};

use super::present;
use super::session::{stored, summary_json};
use crate::args::{RunArgs, SequenceArgs};
use crate::context::Context;
use crate::exit::{Ending, Exit, of_run};
use crate::output;

/// Work items, created on demand.
pub(crate) type Items<'i> = Box<dyn Iterator<Item = Result<WorkItem, String>> + 'i>;

/// A run that has ended.
pub(crate) struct Finished<'f> {
    pub(crate) folder: &'f RunFolder,
    pub(crate) info: &'f RunInfo,
    pub(crate) totals: &'f Totals,
    /// The first cases as planned.
    pub(crate) order: &'f [(String, String)],
}

/// Behaviour of a command that runs cases. The defaults are those of `eval`.
pub(crate) trait Shape {
    /// Returns the command's name.
    fn command(&self) -> &'static str {
        "eval"
    }

    /// Returns the cases that replace a case of an eval file.
    fn cases(&self, suite: &Suite, case: Arc<Case>) -> Result<Vec<Arc<Case>>, String> {
        let _ = suite;
        Ok(vec![case])
    }

    /// Returns the settings for repeats and order; without them each case runs once, in the order of the
    /// files.
    fn sequence(&self) -> Option<&SequenceArgs> {
        None
    }

    /// Returns the items of the command, derived from the `count` items of a plain run.
    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let _ = count;
        items
    }

    /// Returns the number of items, when a plain run has `plain`; `items` are those of the command.
    fn total(&self, plain: usize, items: Items<'_>) -> Result<usize, String> {
        let _ = items;
        Ok(plain)
    }

    /// Returns settings beyond those of a plain run, for the record.
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Returns the exit code and its reason. `counts` are the verdict counts by case.
    fn exit(&self, folder: &RunFolder, counts: Counts, ending: Ending) -> (Exit, String) {
        let _ = folder;
        of_run(counts, ending)
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

/// Mode of `assize eval`.
#[derive(Default)]
pub(crate) struct Ordinary {
    pub(crate) sequence: SequenceArgs,
}

impl Shape for Ordinary {
    fn sequence(&self) -> Option<&SequenceArgs> {
        Some(&self.sequence)
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let SequenceArgs { repeat, repeat_strategy, seed, bail, .. } = &self.sequence;
        let strategy = repeat_strategy.map(|strategy| RepeatStrategy::from(strategy).name().to_owned());
        [
            ("repeat", repeat.map(|repeat| repeat.to_string())),
            ("repeat_strategy", strategy),
            ("seed", seed.map(|seed| seed.to_string())),
            ("bail", bail.map(|bail| bail.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}
