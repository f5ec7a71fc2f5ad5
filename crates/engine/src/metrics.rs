//! Metrics of a run, from its stored rows.

use assize_analysis::Summariser;
use assize_stats::Level;
use assize_store::{Counts, ResultRow, RunFigures, RunFolder};

use crate::error::EngineError;

/// Metrics of the rows that `rows` gives. They are read a second time only if cases were answered more than once.
pub fn from_rows<I>(rows: impl Fn() -> Result<I, EngineError>) -> Result<RunFigures, EngineError>
where
    I: Iterator<Item = Result<ResultRow, EngineError>>,
{
    let mut summariser = Summariser::new();
    for row in rows()? {
        summariser.push(&row?);
    }
    if summariser.is_repeated() {
        for row in rows()? {
            summariser.push_decisions(&row?);
        }
    }
    Ok(summariser.figures(Level::P95))
}

/// Metrics of a stored run.
pub fn from_run(folder: &RunFolder) -> Result<RunFigures, EngineError> {
    from_rows(|| {
        let rows = folder.results()?;
        Ok(rows.map(|row| row.map_err(EngineError::from)))
    })
}

/// Metrics of a run whose rows were added as they were stored. The stored rows are read only if cases were answered
/// more than once.
pub(crate) fn from_summariser(mut taken: Summariser, folder: &RunFolder) -> Result<RunFigures, EngineError> {
    if taken.is_repeated() {
        for row in folder.results()? {
            taken.push_decisions(&row?);
        }
    }
    Ok(taken.figures(Level::P95))
}

/// Counts of cases by verdict: `rows` counts every run of those that were run more than once.
pub fn counts(figures: &RunFigures, rows: Counts) -> Counts {
    figures.repeats.as_ref().map_or(rows, |repeats| repeats.counts)
}
