//! Modes of running eval files: a mode makes items from the cases, and the conclusion at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_analysis::{ExitStatus, RunEnding, ScorecardRun, exit_of_run};
use assize_model::{Case, Suite};
use assize_run::{ItemError, WorkItem};
use assize_store::{RunFolder, VerdictCounts};

use crate::error::EngineError;
use crate::options::SequenceOptions;

/// Work items, created on demand.
pub type Items<'i> = Box<dyn Iterator<Item = Result<WorkItem, ItemError>> + 'i>;

/// The mode of a run. A mode that does not override a method behaves like a plain run.
pub trait RunMode {
    /// Returns the command's name.
    fn command(&self) -> &'static str {
        "eval"
    }

    /// The cases that replace a case of an eval file.
    fn cases(&self, suite: &Suite, case: Arc<Case>) -> Result<Vec<Arc<Case>>, EngineError> {
        let _ = suite;
        Ok(vec![case])
    }

    /// Number and order of executions. Without it, each case runs once, in the order of the files.
    fn sequence(&self) -> Option<&SequenceOptions> {
        None
    }

    /// The items of this mode, made from the `count` items of a plain run.
    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let _ = count;
        items
    }

    /// The number of items if a plain run has `plain`; `items` are this mode's items.
    fn total(&self, plain: usize, items: Items<'_>) -> Result<usize, EngineError> {
        let _ = items;
        Ok(plain)
    }

    /// Returns settings that a plain run does not have, for the record.
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The exit code of a shard, which is about its own cases, and its reason. Anything about all cases is
    /// concluded when shards are merged.
    fn shard_exit(&self, counts: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        exit_of_run(counts, ending)
    }

    /// The decisions of a scorecard run with people's labels; `None` for other runs.
    ///
    /// # Errors
    /// If they can't be read.
    fn scorecard_run(&self, folder: &RunFolder) -> Result<Option<ScorecardRun>, EngineError> {
        let _ = folder;
        Ok(None)
    }

    /// The exit code of a run without a scorecard, and its reason in a few words. `counts` has the cases by verdict.
    fn exit(&self, folder: &RunFolder, counts: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        let _ = folder;
        exit_of_run(counts, ending)
    }
}

/// The mode of a plain run.
#[derive(Debug, Clone, Default)]
pub struct EvalMode {
    /// Number and order of the executions of cases.
    pub sequence: SequenceOptions,
}

impl RunMode for EvalMode {
    fn sequence(&self) -> Option<&SequenceOptions> {
        Some(&self.sequence)
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let SequenceOptions { trials, trial_strategy, seed, bail, .. } = &self.sequence;
        let strategy = trial_strategy.map(|strategy| strategy.name().to_owned());
        [
            ("trials", trials.map(|trials| trials.to_string())),
            ("trial_strategy", strategy),
            ("seed", seed.map(|seed| seed.to_string())),
            ("bail", bail.map(|bail| bail.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}
