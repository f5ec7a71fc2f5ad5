//! Comparison of two runs of a scorecard as text.

use assize_analysis::compare::{ComparisonGateResult, ComparisonGateStatus};
use assize_analysis::{MeasurementChange, NodeDifference, NodeSide, ScorecardComparison, group_changes};
use assize_store::ScorecardPartKind;

use crate::ReportStyle;
use crate::number::{NO_VALUE, format_count, no_interval};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::scorecard_scores::{format_score_or_bounds, status_tone};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of codes listed; the rest is counted.
const MAX_CODES: usize = 8;

/// Renders the results of both runs, each given as its name and a line, and every node that both have: its scores, the difference with its 95% CI, and the change
/// of its status.
pub fn render_scorecard_comparison(
    found: &ScorecardComparison,
    gates: &[ComparisonGateResult],
    sides: [(&str, &str); 2],
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    for (name, result) in sides {
        let text = format!("{name}: {result}");
        page.add_paragraph(ReportPiece::untrusted(ReportTone::Strong, &text, sanitize::MAX_REASON));
    }
    page.add_blank();
    let columns = [
        ReportColumn::left("code"),
        ReportColumn::right("base"),
        ReportColumn::right("candidate"),
        ReportColumn::right("difference"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("pairs"),
        ReportColumn::shrinking("verdict"),
    ];

    let rows: Vec<Vec<ReportPiece>> = found.nodes.iter().map(node_row).collect();
    render_table(&mut page, 0, &columns, &rows);
    page.add_blank();

    for line in comparison_notes(found) {
        page.add_paragraph(ReportPiece::plain(line));
    }

    for line in measurement_lines(&found.measured) {
        page.add_labelled(
            ReportTone::Middling,
            "⚠ ",
            ReportPiece::untrusted(ReportTone::Plain, &line, sanitize::MAX_REASON),
        );
    }

    for gate in gates {
        let tone = match gate.hold {
            ComparisonGateStatus::Held => ReportTone::Good,
            ComparisonGateStatus::Failed => ReportTone::Bad,
            ComparisonGateStatus::Undecided | ComparisonGateStatus::Inconclusive => ReportTone::Open,
        };
        let line = format!("{} {}: {}", gate.gate, gate.hold.word(), gate.says);
        page.add_paragraph(ReportPiece::new(tone, line));
    }

    page.finish()
}

/// Lines below the table: the number of cases, parts that only one run has, and reasons for missing intervals.
pub(crate) fn comparison_notes(found: &ScorecardComparison) -> Vec<String> {
    let mut lines =
        vec![format!("over the {} in both runs", format_count(found.shared as u64, "case", "cases"))];
    let left_out = [(found.only_base, "base"), (found.only_candidate, "candidate")];
    for (number, side) in left_out.into_iter().filter(|(number, _)| *number > 0) {
        lines.push(format!("excluded: {} only in the {side}", format_count(number as u64, "case", "cases")));
    }

    let parts = [("only in the base", &found.gone), ("only in the candidate", &found.new)];
    for (words, codes) in parts.into_iter().filter(|(_, codes)| !codes.is_empty()) {
        let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
        lines.push(format!("nodes {words}: {}", list_codes(&codes)));
    }

    let mut reasons: Vec<String> = found
        .nodes
        .iter()
        .filter(|node| node.difference.is_some())
        .filter_map(|node| node.compared.undefined.clone())
        .collect();

    reasons.sort();
    reasons.dedup();

    for reason in reasons {
        lines.push(no_interval(reason));
    }

    lines
}

/// Lines about the parts that were measured differently. New and missing parts are listed elsewhere.
pub(crate) fn measurement_lines(changes: &[MeasurementChange]) -> Vec<String> {
    let changes = group_changes(changes).into_iter().filter(|(says, _)| !matches!(*says, "new" | "gone"));
    changes.map(|(says, codes)| format!("measured differently: {}: {says}", list_codes(&codes))).collect()
}

/// Lists the first codes and counts the rest.
pub(crate) fn list_codes(codes: &[&str]) -> String {
    let named = &codes[..codes.len().min(MAX_CODES)];
    let more = codes.len().saturating_sub(MAX_CODES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };

    format!("{}{more}", named.join(", "))
}

fn node_row(node: &NodeDifference) -> Vec<ReportPiece> {
    let strong =
        if node.kind == ScorecardPartKind::Benchmark { ReportTone::Plain } else { ReportTone::Strong };
    let status = status_text(node);
    let tone = if node.base.status == node.candidate.status {
        ReportTone::Dim
    } else {
        status_tone(node.candidate.status)
    };
    vec![
        ReportPiece::new(strong, format!("{}{}", "  ".repeat(node.depth), node.code)),
        ReportPiece::plain(format_side(node.base)),
        ReportPiece::plain(format_side(node.candidate)),
        ReportPiece::plain(node.difference.map(format_difference).unwrap_or_default()),
        ReportPiece::plain(interval_text(node)),
        ReportPiece::plain(node.compared.n.to_string()),
        ReportPiece::new(tone, status),
    ]
}

/// Formats the interval of a difference; empty without a difference.
pub(crate) fn interval_text(node: &NodeDifference) -> String {
    match node.compared.low.zip(node.compared.high) {
        _ if node.difference.is_none() => String::new(),
        Some((low, high)) => format!("{} to {}", format_difference(low), format_difference(high)),
        None => NO_VALUE.to_owned(),
    }
}

/// Formats the status of a node, or its change.
pub(crate) fn status_text(node: &NodeDifference) -> String {
    if node.base.status == node.candidate.status {
        node.candidate.status.name().to_owned()
    } else {
        format!("{} → {}", node.base.status, node.candidate.status)
    }
}

/// Formats the score of a node, or its range.
pub(crate) fn format_side(side: NodeSide) -> String {
    format_score_or_bounds(side.score, side.bounds).unwrap_or_else(|| "none".to_owned())
}

/// Formats a difference with its sign.
pub(crate) fn format_difference(value: f64) -> String {
    let text = format!("{value:+.3}");
    if matches!(text.as_str(), "+0.000" | "-0.000") { "0.000".to_owned() } else { text }
}
