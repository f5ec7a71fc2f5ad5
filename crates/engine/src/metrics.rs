//! Metrics of a run, from its stored rows.

use std::collections::HashMap;
use std::time::Instant;

use assize_analysis::{CriterionSample, RunResult, RunSummarizer, stored_mean, withdraw_interval};
use assize_run::{CriterionTally, RunTotals};
use assize_stats::ConfidenceLevel;
use assize_store::{
    CriterionRate, EarlyStop, EstimatedMetric, ResultRow, RunFolder, RunMetrics, RunSummary, StoreError,
    SuiteInfo, VerdictCounts,
};

use crate::error::EngineError;
use crate::stopping::apply_early_stop;

/// Computes the metrics of the rows that `rows` returns. It is called a second time only if cases have several
/// trials.
pub fn from_rows<I>(
    suites: &[SuiteInfo],
    rows: impl Fn() -> Result<I, EngineError>,
) -> Result<RunMetrics, EngineError>
where
    I: Iterator<Item = Result<ResultRow, EngineError>>,
{
    let mut summariser = RunSummarizer::default();
    for row in rows()? {
        summariser.push(&row?);
    }

    if summariser.is_repeated() {
        for row in rows()? {
            summariser.push_decisions(&row?);
        }
    }

    Ok(summariser.compute_metrics(suites, ConfidenceLevel::P95)?)
}

/// The metrics of a stored run.
pub fn from_run(folder: &RunFolder) -> Result<RunMetrics, EngineError> {
    let suites = folder.info()?.suites;
    from_rows(&suites, || {
        let rows = folder.results()?;
        Ok(rows.map(|row| row.map_err(EngineError::from)))
    })
}

/// The metrics of a run whose rows were added while they were stored. The stored rows are read only if cases
/// have several trials.
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
    Ok(taken.compute_metrics(suites, ConfidenceLevel::P95)?)
}

/// Rates of criteria and of checks, each with the worst first.
fn criterion_rates(totals: &RunTotals) -> Result<[Vec<CriterionRate>; 2], StoreError> {
    let folder = totals.spool_folder();
    let shared: HashMap<u32, bool> = totals
        .criterion_tallies()
        .chain(totals.check_tallies())
        .map(|tally| (tally.number, tally.is_scored))
        .collect();
    // Simultaneous intervals: a reader picks out the worst criterion by its value, and its interval must hold too. Source: O. J.
    // Dunn, Journal of the American Statistical Association 56 (1961), 52-64.
    let level = ConfidenceLevel::new(1.0 - 0.05 / shared.len().max(1) as f64).unwrap_or_default();
    let rate = |number: u32, sample: CriterionSample| -> Result<EstimatedMetric, StoreError> {
        sample.rate(shared.get(&number).is_some_and(|is_scored| *is_scored), level)
    };

    let mut rates: HashMap<u32, Result<EstimatedMetric, StoreError>> = HashMap::new();
    let mut open: Option<(u32, CriterionSample)> = None;
    totals.visit_criterion_values(|tally, value, cluster| {
        if !shared.contains_key(&tally) {
            return;
        }
        if open.as_ref().is_none_or(|(number, _)| *number != tally) {
            let before = open.replace((tally, CriterionSample::beside(&folder)));
            rates.extend(before.map(|(number, sample)| (number, rate(number, sample))));
        }
        if let Some((_, sample)) = &mut open {
            sample.push(value, cluster);
        }
    })?;
    rates.extend(open.map(|(number, sample)| (number, rate(number, sample))));

    let mut row = |tally: &CriterionTally| -> Result<CriterionRate, StoreError> {
        // Ungraded criteria have no values.
        let undecided = || rate(tally.number, CriterionSample::beside(&folder));
        Ok(CriterionRate {
            suite: tally.suite.to_string(),
            grader: tally.grader.to_string(),
            criterion: tally.criterion.to_string(),
            text: tally.text.clone(),
            weight: tally.weight,
            gate: tally.is_gate,
            scored: tally.is_scored,
            rate: rates.remove(&tally.number).unwrap_or_else(undecided)?,
            ungraded: tally.ungraded,
            not_applicable: tally.not_applicable,
        })
    };
    let mut criteria = totals.criterion_tallies().map(&mut row).collect::<Result<Vec<_>, _>>()?;
    let mut checks = totals.check_tallies().map(row).collect::<Result<Vec<_>, _>>()?;
    criteria.sort_by(CriterionRate::cmp_worst_first);
    checks.sort_by(CriterionRate::cmp_worst_first);

    Ok([criteria, checks])
}

/// The summary of these totals, for a run that reached every case or stopped early.
pub fn summary(
    totals: &RunTotals,
    mut figures: Option<RunMetrics>,
    begun: Instant,
    result: RunResult,
    early_stop: Option<EarlyStop>,
) -> RunSummary {
    if let Some((stop, figures)) = early_stop.as_ref().zip(figures.as_mut()) {
        apply_early_stop(stop, figures);
    }
    let [mut criterion_rates, mut check_rates] = criterion_rates(totals).unwrap_or_else(|error| {
        if let Some(figures) = &mut figures {
            figures.remarks.push(format!("The rates of criteria are missing: {error}."));
        }
        [Vec::new(), Vec::new()]
    });
    if early_stop.as_ref().is_some_and(EarlyStop::is_early) {
        let rates = criterion_rates.iter_mut().chain(&mut check_rates);
        rates.for_each(|one| withdraw_interval(&mut one.rate));
    }
    RunSummary {
        counts: totals.counts,
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
        criterion_rates,
        check_rates,
        quotes: Some(totals.quotes),
        quotes_found: Some(totals.quotes_verified),
        panel: totals.panel(),
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        exit_code: result.exit.code(),
        exit_reason: result.reason,
        conclusion: result.conclusion,
        early_stop,
        ..RunSummary::default()
    }
}

/// The number of cases by verdict. `rows` counts every trial.
pub fn counts(figures: &RunMetrics, rows: VerdictCounts) -> VerdictCounts {
    figures.trials.as_ref().map_or(rows, |trials| trials.counts)
}
