//! Modes of running eval files: the items made of their cases, and the conclusion drawn at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_model::{Case, Suite};
use assize_run::{ItemError, WorkItem};
use assize_store::{RunFolder, ScorecardConclusion, VerdictCounts};

use crate::error::EngineError;
use crate::exit::{ExitStatus, RunEnding, exit_of_run};
use crate::options::SequenceOptions;

/// Work items, created on demand.
pub type Items<'i> = Box<dyn Iterator<Item = Result<WorkItem, ItemError>> + 'i>;

/// Mode of a run. Anything that a mode does not define is as in a plain run.
pub trait RunMode {
    /// Returns the command's name.
    fn command(&self) -> &'static str {
        "eval"
    }

    /// Returns the cases that replace a case of an eval file.
    fn cases(&self, suite: &Suite, case: Arc<Case>) -> Result<Vec<Arc<Case>>, EngineError> {
        let _ = suite;
        Ok(vec![case])
    }

    /// Number and order of executions; without it once each, in the order of the files, for themselves.
    fn sequence(&self) -> Option<&SequenceOptions> {
        None
    }

    /// Items of this mode, made of those of a plain run, which are `count`.
    fn items<'i>(&'i self, items: Items<'i>, count: usize) -> Items<'i> {
        let _ = count;
        items
    }

    /// Number of items, when a plain run has `plain`; `items` are those of this mode.
    fn total(&self, plain: usize, items: Items<'_>) -> Result<usize, EngineError> {
        let _ = items;
        Ok(plain)
    }

    /// Returns settings beyond those of a plain run, for the record.
    fn settings(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Exit code of a shard, which is about its own cases, and its reason. What is about all cases is concluded when shards
    /// are merged.
    fn shard_exit(&self, counts: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        exit_of_run(counts, ending)
    }

    /// Settings by which the merged run of a scorecard is concluded.
    fn scorecard_conclusion(&self) -> Option<ScorecardConclusion> {
        None
    }

    /// Exit code and its reason in a few words. `counts` has the cases by verdict.
    fn exit(&self, folder: &RunFolder, counts: VerdictCounts, ending: RunEnding) -> (ExitStatus, String) {
        let _ = folder;
        exit_of_run(counts, ending)
    }
}

/// Plain run.
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
