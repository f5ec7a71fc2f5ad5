//! Metrics of a run, computed from its stored rows.

use assize_analysis::Summariser;
use assize_stats::Level;
use assize_store::{Counts, ResultRow, RunFigures, RunFolder};

/// Computes the metrics of the rows that `rows` yields, which is called again only if cases were answered
/// more than once.
pub(super) fn of_rows<I>(rows: impl Fn() -> Result<I, String>) -> Result<RunFigures, String>
where
    I: Iterator<Item = Result<ResultRow, String>>,
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

/// Computes the metrics of a stored run.
pub(super) fn of_run(folder: &RunFolder) -> Result<RunFigures, String> {
    of_rows(|| {
        let rows = folder.results().map_err(|error| error.to_string())?;
        Ok(rows.map(|row| row.map_err(|error| error.to_string())))
    })
}

/// Computes the metrics of a run whose rows were summarised while they were stored. The stored rows are read
/// only if cases were answered more than once.
pub(super) fn of_taken(mut taken: Summariser, folder: &RunFolder) -> Result<RunFigures, String> {
    if taken.is_repeated() {
        for row in folder.results().map_err(|error| error.to_string())? {
            taken.push_decisions(&row.map_err(|error| error.to_string())?);
        }
    }
    Ok(taken.figures(Level::P95))
}

/// Verdict counts by case; `rows` counts every repeat of repeated cases.
pub(super) fn counts(figures: &RunFigures, rows: Counts) -> Counts {
    figures.repeats.as_ref().map_or(rows, |repeats| repeats.counts)
}
