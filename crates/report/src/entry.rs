//! Labelled lines of a summary, and the pieces they consist of.

use std::collections::BTreeSet;

use assize_store::{CriterionRate, EstimatedMetric, VerdictCounts};

use crate::number::{self, format_count, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;

/// Maximum number of targets, judges or suites that are named; the rest is counted.
const MAX_NAMES: usize = 4;

/// Adds a line under a label.
pub(crate) fn entry(page: &mut ReportPage, label: &str, body: ReportPiece) {
    entry_pieces(page, label, &[body]);
}

/// Adds a line of several pieces under a label.
pub(crate) fn entry_pieces(page: &mut ReportPage, label: &str, body: &[ReportPiece]) {
    page.add_text(&[ReportPiece::new(ReportTone::Dim, format!("{label:<12}"))], body);
}

/// `, 95% CI 49% to 94.3%`, or the reason why there is none. JSON and report files also have the method.
pub(crate) fn rate_interval(figure: &EstimatedMetric) -> String {
    if figure.low.is_none() || figure.high.is_none() {
        let reason = figure.undefined.as_deref().unwrap_or("it was not computed");
        return format!(" ({})", number::no_interval(sanitize::sanitize_text(reason, 200)));
    }

    let clusters = figure.clusters.map(|n| format!(" over {}", format_count(n, "cluster", "clusters")));
    let level = number::format_plain(figure.level * 100.0);
    format!(", {level}% CI {}{}", percent_interval(figure), clusters.unwrap_or_default())
}

/// A rate as a percentage; a dash if there is none.
pub(crate) fn percent(figure: &EstimatedMetric) -> String {
    figure.value.map_or_else(|| number::NO_VALUE.to_owned(), number::format_rate)
}

/// The interval of a rate as percentages, or the reason why there is none.
pub(crate) fn percent_interval(figure: &EstimatedMetric) -> String {
    interval_or_reason(figure, number::format_rate)
}

/// The interval of a metric with both ends in a format, or the reason why there is none.
pub(crate) fn interval_or_reason(figure: &EstimatedMetric, format: fn(f64) -> String) -> String {
    match (figure.low, figure.high, &figure.undefined) {
        (Some(low), Some(high), _) => format!("{} to {}", format(low), format(high)),
        (.., Some(reason)) => number::no_interval(sanitize::sanitize_text(reason, 120)),
        _ => String::new(),
    }
}

/// A score; a dash if there is none.
pub(crate) fn score(figure: &EstimatedMetric) -> String {
    figure.value.map_or_else(|| number::NO_VALUE.to_owned(), number::format_score)
}

/// The interval of a score; empty if there is none.
pub(crate) fn score_interval(figure: &EstimatedMetric) -> String {
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("{} to {}", number::format_score(low), number::format_score(high)),
        _ => String::new(),
    }
}

/// The rate of a criterion with its interval; of a scored one, the mean of its scores.
pub(crate) fn criterion_value(rate: &CriterionRate) -> (String, String) {
    let figure = &rate.rate;
    if rate.scored {
        (score(figure), score_interval(figure))
    } else {
        (percent(figure), percent_interval(figure))
    }
}

/// Reasons why some rows of a table have no interval, shown once below it.
#[derive(Debug, Default)]
pub(crate) struct UndefinedIntervals(BTreeSet<String>);

impl UndefinedIntervals {
    /// Returns the interval with both ends in a format, or a dash and keeps the reason.
    pub(crate) fn or_dash(&mut self, metric: &EstimatedMetric, format: fn(f64) -> String) -> ReportPiece {
        let text = match (&metric.undefined, metric.low, metric.high) {
            (_, Some(_), Some(_)) | (None, ..) => interval_or_reason(metric, format),
            (Some(reason), ..) => {
                self.0.insert(sanitize::sanitize_text(reason, 120));
                number::NO_VALUE.to_owned()
            }
        };
        ReportPiece::new(ReportTone::Dim, text)
    }

    /// Adds a line with the reasons, if there are any.
    pub(crate) fn render(&self, page: &mut ReportPage) {
        let reasons: Vec<&str> = self.0.iter().map(String::as_str).collect();
        if !reasons.is_empty() {
            let text = format!("{} {}", number::NO_VALUE, number::no_interval(reasons.join("; ")));
            page.add_indented(2, ReportPiece::new(ReportTone::Dim, text));
        }
    }
}

/// The verdicts with their numbers, words and tones, the best first.
pub(crate) fn tallies(counts: VerdictCounts) -> [(usize, &'static str, ReportTone); 5] {
    [
        (counts.pass, "passed", ReportTone::Good),
        (counts.borderline, "borderline", ReportTone::Middling),
        (counts.fail, "failed", ReportTone::Bad),
        (counts.incomplete, "incomplete", ReportTone::Open),
        (counts.skipped, "skipped", ReportTone::Open),
    ]
}

/// Joins the first items with commas; the rest is counted.
pub(crate) fn listed(items: impl ExactSizeIterator<Item = Vec<ReportPiece>>) -> Vec<ReportPiece> {
    let left = items.len().saturating_sub(MAX_NAMES);
    let mut pieces = Vec::new();
    for (index, item) in items.take(MAX_NAMES).enumerate() {
        if index > 0 {
            pieces.push(ReportPiece::plain(", "));
        }
        pieces.extend(item);
    }

    if left > 0 {
        pieces.push(ReportPiece::new(ReportTone::Dim, format!(" and {} more", grouped(left as u64))));
    }

    pieces
}
