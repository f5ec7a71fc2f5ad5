//! Rates of the criteria and checks of a run as a table, the worst first.

use assize_store::{CriterionRate, RunSummary};

use crate::entry::{UndefinedIntervals, percent, score};
use crate::number::{self, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of rows shown; the rest is counted.
const MAX_SHOWN: usize = 12;

/// Maximum number of rows of a brief summary, each on one line.
const MAX_SHOWN_BRIEF: usize = 6;

/// Returns the rates worth showing, the worst first: of all criteria, and of the checks that did not always pass.
pub(crate) fn shown_rates(summary: &RunSummary) -> Vec<&CriterionRate> {
    let has_failed = |one: &&CriterionRate| one.ungraded > 0 || one.rate.value.is_some_and(|rate| rate < 1.0);
    let checks = summary.check_rates.iter().filter(has_failed);
    let mut rates: Vec<&CriterionRate> = summary.criterion_rates.iter().chain(checks).collect();
    rates.sort_by(|a, b| a.cmp_worst_first(b));

    rates
}

/// Text of a criterion, or its id if it has none. The suite is added if another of these rates has the same
/// text.
pub(crate) fn rate_text(one: &CriterionRate, rates: &[&CriterionRate]) -> String {
    let text = |one: &CriterionRate| {
        let text = one.text.trim();
        if text.is_empty() { one.criterion.clone() } else { text.to_owned() }
    };
    let shown = text(one);
    let is_double = rates.iter().any(|other| other.suite != one.suite && text(other) == shown);

    if is_double { format!("{shown} ({})", one.suite) } else { shown }
}

/// Title of the column with the intervals of the rates. With several rates, the intervals are wider and hold all at once, so that
/// a reader may pick the worst one.
pub fn rate_interval_title(summary: &RunSummary) -> &'static str {
    let is_alone = summary.criterion_rates.len() + summary.check_rates.len() == 1;
    if is_alone { "95% CI" } else { "95% CI, all at once" }
}

/// Titles for a table of [`shown_rates`].
pub(crate) struct RateTitles {
    /// Heading of the table.
    pub(crate) heading: &'static str,
    /// Title of the column with the texts.
    pub(crate) column: &'static str,
    /// Title of the column with the intervals.
    pub(crate) interval: &'static str,
    /// Title of the column whose values the rows are sorted by, with the order.
    ordered: &'static str,
}

impl RateTitles {
    /// Returns the titles, which depend on whether the shown rates include code checks.
    pub(crate) fn new(summary: &RunSummary, shown: &[&CriterionRate]) -> Self {
        let (heading, column, ordered) = if shown.len() == summary.criterion_rates.len() {
            ("Criteria", "criterion", "criterion, worst first")
        } else if summary.criterion_rates.is_empty() {
            ("Checks", "check", "check, worst first")
        } else {
            ("Criteria and checks", "criterion or check", "criterion or check, worst first")
        };
        Self { heading, column, interval: rate_interval_title(summary), ordered }
    }
}

/// Renders the rates. Shares are percentages, means of scores are numbers from 0 to 1.
pub(crate) fn render_criterion_rates(page: &mut ReportPage, summary: &RunSummary, is_brief: bool) {
    let most = if is_brief { MAX_SHOWN_BRIEF } else { MAX_SHOWN };
    let rates = shown_rates(summary);
    if rates.is_empty() {
        return;
    }

    let any_scored = rates.iter().any(|one| one.scored);
    let mut undefined = UndefinedIntervals::default();
    let count = |number: u64| if number == 0 { String::new() } else { grouped(number) };
    let rows: Vec<Vec<ReportPiece>> = rates
        .iter()
        .take(most)
        .map(|one| {
            let (rate, interval) = if one.scored {
                (score(&one.rate), undefined.or_dash(&one.rate, number::format_score))
            } else {
                (percent(&one.rate), undefined.or_dash(&one.rate, number::format_rate))
            };
            let text = rate_text(one, &rates);
            let penalty = if one.weight < 0.0 { "penalty incurred: " } else { "" };

            vec![
                ReportPiece::new(ReportTone::Strong, rate),
                interval,
                ReportPiece::plain(one.failures().map(grouped).unwrap_or_default()),
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
    let RateTitles { interval, ordered, .. } = RateTitles::new(summary, &rates);
    let columns = [
        ReportColumn::right(if any_scored { "met or mean" } else { "met" }),
        ReportColumn::shrinking(interval),
        ReportColumn::right("against"),
        ReportColumn::right("of"),
        ReportColumn::right("ungraded"),
        if is_brief { ReportColumn::cut(ordered) } else { ReportColumn::shrinking(ordered) }.naming_row(),
    ];
    render_table(page, 2, &columns, &rows);

    undefined.render(page);
    if rates.len() > most {
        let more = format!("and {} more; `--json` has them all", rates.len() - most);
        page.add_indented(2, ReportPiece::new(ReportTone::Dim, more));
    }
}
