//! Totals of a run without a summary, because it is running or was killed.

use std::time::Instant;

use assize_analysis::{RunResult, RunSummarizer};
use assize_engine::{EngineError, ExitStatus, metrics};
use assize_run::RunTotals;
use assize_stats::ConfidenceLevel;
use assize_store::{RecordPosition, RowsFile, RunConclusion, RunFolder, RunSummary};

/// Totals of the cases read so far. More are added as they are written.
#[derive(Default)]
pub(crate) struct RunProgress {
    totals: RunTotals,
    summariser: RunSummarizer,
    at: Option<RecordPosition>,
}

impl RunProgress {
    /// Summary of all cases written so far, by the rules of the final summary.
    pub(crate) fn summary(&mut self, folder: &RunFolder) -> Result<RunSummary, EngineError> {
        // Resuming a run may have dropped rows.
        if self.at.is_some_and(|at| folder.rows_length(RowsFile::Results) < at.result) {
            *self = Self::default();
        }

        let mut records = folder.cases_from(self.at.unwrap_or_default())?;
        while let Some(record) = records.next().transpose()? {
            self.summariser.push(&record.result);
            self.totals.add(&record);
            self.at = Some(records.position());
        }

        let figures = if self.summariser.is_repeated() {
            metrics::from_run(folder)?
        } else {
            self.summariser.compute_metrics(&folder.info()?.suites, ConfidenceLevel::P95)?
        };
        let result = RunResult {
            exit: ExitStatus::Incomplete,
            reason: "the run has not ended".to_owned(),
            conclusion: RunConclusion::default(),
        };

        Ok(metrics::summary(&self.totals, Some(figures), Instant::now(), result, None))
    }
}
