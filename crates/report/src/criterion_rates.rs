//! Rates of the criteria of a run as a table, the worst first.

use assize_store::CriterionRate;

use crate::case_trials::{format_metric, format_metric_interval};
use crate::entry::{percent, percent_interval};
use crate::number::grouped;
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Criteria that are shown; the rest is counted.
const MAX_SHOWN: usize = 12;

/// Renders the rates. Shares are percentages, means of scores are numbers from 0 to 1.
pub(crate) fn render_criterion_rates(page: &mut ReportPage, rates: &[CriterionRate]) {
    if rates.is_empty() {
        return;
    }

    let any_scored = rates.iter().any(|one| one.scored);
    let count = |number: u64| if number == 0 { String::new() } else { grouped(number) };
    let rows: Vec<Vec<ReportPiece>> = rates
        .iter()
        .take(MAX_SHOWN)
        .map(|one| {
            let (rate, interval) = if one.scored {
                (format_metric(&one.rate), format_metric_interval(&one.rate))
            } else {
                (percent(&one.rate), percent_interval(&one.rate))
            };
            let text = if one.text.trim().is_empty() { &one.criterion } else { &one.text };
            let penalty = if one.weight < 0.0 { "penalty incurred: " } else { "" };

            vec![
                ReportPiece::new(ReportTone::Strong, rate),
                ReportPiece::new(ReportTone::Dim, interval),
                ReportPiece::plain(grouped(one.rate.n)),
                ReportPiece::new(ReportTone::Open, count(one.ungraded)),
                ReportPiece::untrusted(
                    ReportTone::Plain,
                    &format!("{penalty}{text}"),
                    sanitize::MAX_CRITERION_TEXT,
                ),
            ]
        })
        .collect();

    page.add_blank();
    let columns = [
        ReportColumn::right(if any_scored { "met or mean" } else { "met" }),
        ReportColumn::shrinking("95% CI"),
        ReportColumn::right("of"),
        ReportColumn::right("ungraded"),
        ReportColumn::shrinking("criterion, worst first").naming_row(),
    ];
    render_table(page, 2, &columns, &rows);

    if rates.len() > MAX_SHOWN {
        let more = format!("and {} more criteria; `--json` has them all", rates.len() - MAX_SHOWN);
        page.add_text(&[ReportPiece::plain("  ")], &[ReportPiece::new(ReportTone::Dim, more)]);
    }
}
