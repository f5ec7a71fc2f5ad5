//! Rates of the criteria of a run.

use assize_report::{format_rate, grouped, rate_interval_title};
use assize_store::{CriterionRate, PanelSummary, RunSummary};
use axum::extract::{Path, State};
use axum::response::Response;

use super::run_header::{run_header, summary_of};
use crate::index::{CaseFilter, CaseTableIndex, OutcomeChoice};
use crate::open_run::OpenRun;
use crate::page_reply::{Library, PageError, blocking, open_run, render, run_url, with_query};
use crate::pages::{CaseLink, CriteriaPage, CriterionLineText};
use crate::text::{MetricText, ResultMark, sentence, visible};

/// Maximum number of single decisions that are shown if there are no rates.
const MAX_SINGLE: usize = 500;

pub(crate) async fn page(State(library): Library, Path(slug): Path<String>) -> Result<Response, PageError> {
    blocking(move || {
        let run = open_run(&library, &slug)?;
        let info = library.info(&run.folder)?;
        let summary = summary_of(&run, &info)?;
        let suites = summary.criterion_rates.iter().map(|rate| &rate.suite);
        let several_suites = suites.clone().any(|suite| Some(suite) != suites.clone().next());

        // Single decisions lock the index again.
        let criteria = {
            let index = run.index()?;
            criterion_lines(&run.slug, &index, &summary)
        };
        let is_single = criteria.is_empty() && info.scorecard.is_none();
        let (single, more_single) = if is_single { single_decisions(&run)? } else { (Vec::new(), 0) };

        Ok(render(&CriteriaPage {
            header: run_header(&run, &info, "criteria"),
            rate_interval: rate_interval_title(&summary),
            criteria,
            single,
            more_single,
            has_panel: summary.panel.is_some(),
            several_suites,
            panel: summary.panel.iter().flat_map(panel_lines).collect(),
        }))
    })
    .await
}

/// Single decisions of a run, case by case, and the number of those not shown.
fn single_decisions(run: &OpenRun) -> Result<(Vec<CaseLink>, usize), PageError> {
    let index = run.index()?;
    let all = index.entries.iter().enumerate();
    let all = all.flat_map(|(row, entry)| entry.criteria.iter().map(move |decided| (row, entry, decided)));
    let count = all.clone().count();
    let shown = all.take(MAX_SINGLE).map(|(row, entry, decided)| CaseLink {
        note: visible(index.name(decided.name)),
        mark: ResultMark::of_criterion(*decided),
        id: visible(&entry.id),
        url: format!("{}/cases/{}", run_url(&run.slug), row + 1),
    });
    let shown: Vec<CaseLink> = shown.collect();

    Ok((shown, count.saturating_sub(MAX_SINGLE)))
}

/// Rates of criteria and of checks, the costliest first.
pub(super) fn all_rates(summary: &RunSummary) -> Vec<&CriterionRate> {
    let mut rates: Vec<&CriterionRate> = summary.criterion_rates.iter().chain(&summary.check_rates).collect();
    rates.sort_by(|a, b| a.cmp_worst_first(b));
    rates
}

/// These rates as lines of a table.
pub(super) fn criterion_lines(
    slug: &str,
    index: &CaseTableIndex,
    summary: &RunSummary,
) -> Vec<CriterionLineText> {
    let line = |rate| criterion_line(slug, &index.name_of_rate(rate), rate, summary.panel.as_ref());
    all_rates(summary).into_iter().map(line).collect()
}

fn criterion_line(
    slug: &str,
    name: &str,
    rate: &CriterionRate,
    panel: Option<&PanelSummary>,
) -> CriterionLineText {
    let cases = |outcome| {
        let filter = CaseFilter::of_criterion(name.to_owned(), Some(rate.suite.clone()), outcome);
        with_query(&format!("{}/cases", run_url(slug)), &filter.to_query())
    };
    let unstable = panel.and_then(|panel| {
        panel.unstable.iter().find(|one| {
            one.suite == rate.suite && one.grader == rate.grader && one.criterion == rate.criterion
        })
    });
    let share = |share: Option<f64>| share.map_or_else(String::new, format_rate);
    let text = if rate.text.trim().is_empty() { &rate.criterion } else { &rate.text };

    CriterionLineText {
        id: visible(name.strip_suffix("/check-1").unwrap_or(name)),
        text: sentence(text),
        suite: visible(&rate.suite),
        is_scored: rate.scored,
        is_penalty: rate.weight < 0.0,
        rate: if rate.scored { MetricText::score(&rate.rate) } else { MetricText::rate(&rate.rate) },
        against: rate.failures().map_or_else(String::new, grouped),
        ungraded: rate.ungraded,
        ungraded_url: cases(OutcomeChoice::Ungraded),
        not_applicable: rate.not_applicable,
        cases_url: cases(if rate.scored { OutcomeChoice::Scored } else { OutcomeChoice::Against }),
        disagreement: share(unstable.and_then(|one| one.disagreement)),
        flips: share(unstable.and_then(|one| one.flip_rate)),
    }
}

/// Sentences about the agreement of the judges of a run.
fn panel_lines(panel: &PanelSummary) -> Vec<String> {
    let mut lines = vec![format!(
        "{} decisions were made of {} votes; the votes of {} were not all the same, {} were evenly split.",
        grouped(panel.decisions),
        grouped(panel.votes),
        grouped(panel.split),
        grouped(panel.ties)
    )];
    if let Some(disagreement) = panel.disagreement {
        lines.push(format!("Two judges differ in {} of their votes.", format_rate(disagreement)));
    }
    if let (Some(rate), Some(low), Some(high)) = (panel.flips.rate, panel.flips.low, panel.flips.high) {
        lines.push(format!(
            "Repeats of the same judge differ in {} (95% CI {} to {}).",
            format_rate(rate),
            format_rate(low),
            format_rate(high)
        ));
    }
    if panel.missing > 0 {
        lines.push(format!(
            "{} votes are missing, because their judges did not answer.",
            grouped(panel.missing)
        ));
    }
    if let Some(escalation) = &panel.escalation {
        lines.push(format!(
            "{} of {} decisions were left to a stronger judge.",
            grouped(escalation.escalated),
            grouped(escalation.decisions)
        ));
    }

    lines
}
