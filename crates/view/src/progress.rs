//! Totals of a run that has no summary: one that goes on, or was killed.

use std::time::Instant;

use assize_analysis::RunSummarizer;
use assize_engine::{EngineError, ExitStatus, metrics};
use assize_run::RunTotals;
use assize_stats::ConfidenceLevel;
use assize_store::{RecordPosition, RowsFile, RunFolder, RunSummary};

/// Totals over the cases that were read so far. Further ones are added as they are written.
#[derive(Default)]
pub(crate) struct RunProgress {
    totals: RunTotals,
    summariser: RunSummarizer,
    at: Option<RecordPosition>,
}

impl RunProgress {
    /// Summary of all cases that are written by now, by the rules of a run's own summary.
    pub(crate) fn summary(&mut self, folder: &RunFolder) -> Result<RunSummary, EngineError> {
        // A run that is resumed may have lost rows.
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
        let exit = (ExitStatus::Incomplete, "the run has not ended".to_owned());

        Ok(metrics::summary(&self.totals, Some(figures), Instant::now(), exit))
    }
}
