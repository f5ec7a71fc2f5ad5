//! Metrics of a run, from its stored rows.

use assize_analysis::RunSummarizer;
use assize_stats::ConfidenceLevel;
use assize_store::{ResultRow, RunFolder, RunMetrics, VerdictCounts};

use crate::error::EngineError;

/// Metrics of the rows that `rows` gives. They are read a second time only if cases were answered more than once.
pub fn from_rows<I>(rows: impl Fn() -> Result<I, EngineError>) -> Result<RunMetrics, EngineError>
where
    I: Iterator<Item = Result<ResultRow, EngineError>>,
{
    let mut summariser = RunSummarizer::new();
    for row in rows()? {
        summariser.push(&row?);
    }

    if summariser.is_repeated() {
        for row in rows()? {
            summariser.push_decisions(&row?);
        }
    }

    Ok(summariser.compute_metrics(ConfidenceLevel::P95))
}

/// Metrics of a stored run.
pub fn from_run(folder: &RunFolder) -> Result<RunMetrics, EngineError> {
    from_rows(|| {
        let rows = folder.results()?;
        Ok(rows.map(|row| row.map_err(EngineError::from)))
    })
}

/// Metrics of a run whose rows were added as they were stored. The stored rows are read only if cases were answered
/// more than once.
pub(crate) fn from_summariser(
    mut taken: RunSummarizer,
    folder: &RunFolder,
) -> Result<RunMetrics, EngineError> {
    if taken.is_repeated() {
        for row in folder.results()? {
            taken.push_decisions(&row?);
        }
    }
    Ok(taken.compute_metrics(ConfidenceLevel::P95))
}

/// Counts of cases by verdict: `rows` counts every run of those that were run more than once.
pub fn counts(figures: &RunMetrics, rows: VerdictCounts) -> VerdictCounts {
    figures.repeats.as_ref().map_or(rows, |repeats| repeats.counts)
}
