//! Grades many samples concurrently.

use std::time::Instant;

use assize_analysis::{RunEnding, RunResult, exit_of_run};
use assize_run::{RunTotals, WorkItem, run_item};
use assize_store::RunConclusion;
use assize_store::{CaseRecord, RunSummary};
use tokio::task::JoinSet;

use super::stop::GradingStop;
use crate::exit::CallStop;
use crate::metrics;

/// Samples that were graded.
#[derive(Debug)]
pub struct GradedSamples {
    /// Record of each sample, in the order of the samples.
    pub records: Vec<CaseRecord>,
    /// Summary of the records, like that of a run.
    pub summary: RunSummary,
    /// Why calls were refused, if they were.
    pub stop: Option<CallStop>,
}

impl GradedSamples {
    pub(super) fn new(
        records: Vec<CaseRecord>,
        begun: Instant,
        stop: &GradingStop,
        refused: Option<CallStop>,
    ) -> Self {
        let mut totals = RunTotals::default();
        for record in &records {
            totals.add(record);
        }

        let figures =
            metrics::from_rows(&[], || Ok(records.iter().map(|record| Ok(record.result.clone())))).ok();
        let ending = RunEnding {
            interrupted: stop.is_stopped(),
            over_budget: matches!(refused, Some(CallStop::OverBudget(_))),
            server_given_up: matches!(refused, Some(CallStop::ServerGivenUp(_))),
            ..RunEnding::default()
        };
        let (exit, reason) = exit_of_run(totals.counts, ending);
        let summary = metrics::summary(
            &totals,
            figures,
            begun,
            RunResult { exit, reason, conclusion: RunConclusion::default() },
            None,
        );

        Self { records, summary, stop: refused }
    }
}

/// Samples that are being graded. Unfinished ones are cancelled when this is dropped.
pub struct GradingBatch {
    waiting: std::iter::Enumerate<std::vec::IntoIter<WorkItem>>,
    tasks: JoinSet<(usize, CaseRecord)>,
    at_once: usize,
}

impl GradingBatch {
    pub(super) fn new(items: Vec<WorkItem>, at_once: usize) -> Self {
        Self { waiting: items.into_iter().enumerate(), tasks: JoinSet::new(), at_once: at_once.max(1) }
    }

    /// Returns the next finished sample: its index among the samples, and its record; `None` after the last.
    /// New samples start only while this is awaited.
    pub async fn next(&mut self) -> Option<(usize, CaseRecord)> {
        while self.tasks.len() < self.at_once
            && let Some((place, item)) = self.waiting.next()
        {
            self.tasks.spawn(async move { (place, run_item(&item).await) });
        }

        // An item that panics has a record of that, so a task fails only if the runtime ends.
        self.tasks.join_next().await?.ok()
    }
}
