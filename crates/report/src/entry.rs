//! Lines of a summary under a label, and the pieces they are made of.

use assize_store::{EstimatedMetric, VerdictCounts};

use crate::number::{self, format_count, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::ReportTone;

/// Longest list of targets, judges or suites before the rest is only counted.
const NAMES: usize = 4;

/// Adds a line under a label.
pub(crate) fn entry(page: &mut ReportPage, label: &str, body: Vec<ReportPiece>) {
    page.add_text(&[ReportPiece::new(ReportTone::Dim, format!("{label:<12}"))], &body);
}

/// `, 95% CI 0.490 to 0.943 (Wilson)`, or why there is none.
pub(crate) fn interval(figure: &EstimatedMetric) -> String {
    let (Some(low), Some(high), Some(method)) = (figure.low, figure.high, &figure.method) else {
        let reason = figure.undefined.as_deref().unwrap_or("it was not computed");
        return format!(" (no CI: {})", sanitize::sanitize_text(reason, 200));
    };
    let clusters = figure.clusters.map(|n| format!(" over {}", format_count(n, "cluster", "clusters")));
    format!(
        ", {}% CI {} to {} ({}{})",
        number::format_plain(figure.level * 100.0),
        number::format_score(low),
        number::format_score(high),
        sanitize::sanitize_text(method, 100),
        clusters.unwrap_or_default()
    )
}

/// `, 95% CI 49% to 94.3% (Wilson)`, or why there is none: of a rate that is shown as a percentage.
pub(crate) fn rate_interval(figure: &EstimatedMetric) -> String {
    let (Some(_), Some(_), Some(method)) = (figure.low, figure.high, &figure.method) else {
        return interval(figure);
    };
    let clusters = figure.clusters.map(|n| format!(" over {}", format_count(n, "cluster", "clusters")));
    format!(
        ", {}% CI {} ({}{})",
        number::format_plain(figure.level * 100.0),
        percent_interval(figure),
        sanitize::sanitize_text(method, 100),
        clusters.unwrap_or_default()
    )
}

/// A rate as a percentage; a dash if there is none.
pub(crate) fn percent(figure: &EstimatedMetric) -> String {
    figure.value.map_or_else(|| "–".to_owned(), number::format_rate)
}

/// The interval of a rate as percentages, or the reason why there is none.
pub(crate) fn percent_interval(figure: &EstimatedMetric) -> String {
    match (figure.low, figure.high, &figure.undefined) {
        (Some(low), Some(high), _) => {
            format!("{} to {}", number::format_rate(low), number::format_rate(high))
        }
        (.., Some(reason)) => format!("none: {}", sanitize::sanitize_text(reason, 120)),
        _ => String::new(),
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

/// Items with commas between them; the rest of a long list is only counted.
pub(crate) fn listed(items: impl ExactSizeIterator<Item = Vec<ReportPiece>>) -> Vec<ReportPiece> {
    let left = items.len().saturating_sub(NAMES);
    let mut pieces = Vec::new();
    for (index, item) in items.take(NAMES).enumerate() {
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
