//! Metrics of a run, from its stored rows.

use std::time::Instant;

use assize_analysis::{RunSummarizer, criterion_rate, stored_mean};
use assize_run::{CriterionTally, RunTotals};
use assize_stats::ConfidenceLevel;
use assize_store::{CriterionRate, ResultRow, RunFolder, RunMetrics, RunSummary, SuiteInfo, VerdictCounts};

use crate::error::EngineError;
use crate::exit::ExitStatus;

/// Metrics of the rows of these suites that `rows` gives. They are read a second time only if cases were answered more than
/// once.
pub fn from_rows<I>(
    suites: &[SuiteInfo],
    rows: impl Fn() -> Result<I, EngineError>,
) -> Result<RunMetrics, EngineError>
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

    Ok(summariser.compute_metrics(suites, ConfidenceLevel::P95))
}

/// Metrics of a stored run.
pub fn from_run(folder: &RunFolder) -> Result<RunMetrics, EngineError> {
    let suites = folder.info()?.suites;
    from_rows(&suites, || {
        let rows = folder.results()?;
        Ok(rows.map(|row| row.map_err(EngineError::from)))
    })
}

/// Metrics of a run whose rows were added as they were stored. The stored rows are read only if cases were answered
/// more than once.
pub(crate) fn from_summariser(
    mut taken: RunSummarizer,
    folder: &RunFolder,
    suites: &[SuiteInfo],
) -> Result<RunMetrics, EngineError> {
    if taken.is_repeated() {
        for row in folder.results()? {
            taken.push_decisions(&row?);
        }
    }
    Ok(taken.compute_metrics(suites, ConfidenceLevel::P95))
}

/// Rates of criteria or checks, the worst first.
fn criterion_rates<'a>(tallies: impl Iterator<Item = &'a CriterionTally>) -> Vec<CriterionRate> {
    let mut rates: Vec<CriterionRate> = tallies
        .map(|tally| CriterionRate {
            suite: tally.suite.to_string(),
            grader: tally.grader.to_string(),
            criterion: tally.criterion.to_string(),
            text: tally.text.clone(),
            weight: tally.weight,
            scored: tally.is_scored,
            rate: criterion_rate(&tally.values, tally.is_scored, ConfidenceLevel::P95),
            ungraded: tally.ungraded,
            not_applicable: tally.not_applicable,
        })
        .collect();

    rates.sort_by(CriterionRate::cmp_worst_first);

    rates
}

/// Summary of these totals, for a run whose cases were all run.
pub fn summary(
    totals: &RunTotals,
    figures: Option<RunMetrics>,
    begun: Instant,
    (exit, exit_reason): (ExitStatus, String),
) -> RunSummary {
    RunSummary {
        counts: totals.counts,
        not_run: 0,
        excluded: 0,
        mean_score: figures
            .as_ref()
            .map_or_else(|| totals.mean_score(), |figures| stored_mean(&figures.mean_score)),
        figures,
        tokens: totals.tokens,
        cost_usd: totals.cost.total(),
        cost_partial: totals.cost.to_partial(),
        judge_calls: totals.judge_calls,
        judge_calls_cached: totals.judge_calls_cached,
        criteria_ungraded: totals.criteria_ungraded,
        criteria_truncated: totals.criteria_truncated,
        criteria: totals.criteria,
        criterion_rates: criterion_rates(totals.criterion_tallies()),
        check_rates: criterion_rates(totals.check_tallies()),
        quotes: Some(totals.quotes),
        quotes_found: Some(totals.quotes_verified),
        panel: totals.panel(),
        pass_rate_gate: None,
        sent: None,
        early_stop: None,
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        exit_code: exit.code(),
        exit_reason,
    }
}

/// Counts of cases by verdict: `rows` counts every run of those that were run more than once.
pub fn counts(figures: &RunMetrics, rows: VerdictCounts) -> VerdictCounts {
    figures.trials.as_ref().map_or(rows, |trials| trials.counts)
}
