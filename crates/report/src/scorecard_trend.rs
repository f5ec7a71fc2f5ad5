//! Trend over runs of a scorecard as text.

use assize_analysis::{NodeSide, ScorecardTrendPoint};
use assize_store::ScorecardPartKind;

use crate::number::{format_count, format_score, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::scorecard_comparison::{format_difference, format_side};
use crate::scorecard_scores::status_tone;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};
use crate::trend::{add_changes, add_no_value_note, draw_blocks};

/// Renders the top nodes of each run, the oldest run first, then every part over all runs.
pub fn render_scorecard_trend(points: &[ScorecardTrendPoint], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    render_runs(&mut page, points);
    page.add_blank();
    render_parts(&mut page, points, style);

    let changes = points
        .iter()
        .flat_map(|point| point.changed.iter().map(|change| (point.label.as_str(), change.as_str())));
    add_changes(&mut page, "the scorecard or its cases changed", changes);

    page.finish()
}

fn render_runs(page: &mut ReportPage, points: &[ScorecardTrendPoint]) {
    let columns = [
        ReportColumn::shrinking("run"),
        ReportColumn::shrinking("result"),
        ReportColumn::right("cases"),
        ReportColumn::left("code"),
        ReportColumn::right("score"),
        ReportColumn::left("verdict"),
        ReportColumn::left(""),
    ];
    let rows: Vec<Vec<ReportPiece>> = points
        .iter()
        .flat_map(|point| point.nodes.iter().filter(|node| node.depth == 0).map(move |top| (point, top)))
        .map(|(point, top)| {
            let mark = if point.changed.is_empty() { "" } else { "⚠" };
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &point.label),
                ReportPiece::untrusted(ReportTone::Plain, &point.result, sanitize::MAX_REASON),
                ReportPiece::plain(grouped(point.cases as u64)),
                ReportPiece::new(ReportTone::Strong, top.code.clone()),
                ReportPiece::plain(format_side(top.side)),
                ReportPiece::new(status_tone(top.side.status), top.side.status.name()),
                ReportPiece::new(ReportTone::Middling, mark),
            ]
        })
        .collect();

    render_table(page, 0, &columns, &rows);
}

fn render_parts(page: &mut ReportPage, points: &[ScorecardTrendPoint], style: ReportStyle) {
    let Some((first, last)) = points.first().zip(points.last()) else { return };
    let columns = [
        ReportColumn::left("node"),
        ReportColumn::left("scores"),
        ReportColumn::right("first"),
        ReportColumn::right("last"),
        ReportColumn::right("change"),
        ReportColumn::left("verdict"),
        ReportColumn::shrinking(""),
    ];
    let find = |point: &ScorecardTrendPoint, code: &str| -> Option<NodeSide> {
        point.nodes.iter().find(|node| node.code == code).map(|node| node.side)
    };

    let rows: Vec<Vec<ReportPiece>> = last
        .nodes
        .iter()
        .map(|node| {
            let code = node.code.as_str();
            let sides = points.iter().map(|point| (!point.changed.is_empty(), find(point, code)));
            let blocks = draw_blocks(
                sides.map(|(marked, side)| (marked, side.and_then(|side| side.score))),
                style.unicode,
            );
            let was = find(first, code);
            let change = was.and_then(|was| was.score).zip(node.side.score).map(|(was, now)| now - was);
            let failed = points.iter().filter(|point| find(point, code).is_some_and(|side| side.gate_failed));
            let failed = match failed.count() {
                0 if node.hard_gate => "hard gate".to_owned(),
                0 => String::new(),
                failed => format!(
                    "hard gate; failed in {failed} of {}",
                    format_count(points.len() as u64, "run", "runs")
                ),
            };
            let tone = match node.kind {
                ScorecardPartKind::Benchmark => ReportTone::Plain,
                ScorecardPartKind::Index | ScorecardPartKind::Rubric => ReportTone::Strong,
            };

            vec![
                ReportPiece::new(tone, format!("{}{code}", "  ".repeat(node.depth))),
                ReportPiece::plain(blocks),
                ReportPiece::plain(was.and_then(|was| was.score).map(format_score).unwrap_or_default()),
                ReportPiece::plain(format_side(node.side)),
                ReportPiece::plain(change.map(format_difference).unwrap_or_default()),
                ReportPiece::new(status_tone(node.side.status), node.side.status.name()),
                ReportPiece::new(ReportTone::Dim, failed),
            ]
        })
        .collect();

    render_table(page, 0, &columns, &rows);
    let has_score =
        |code: &str| points.iter().all(|point| find(point, code).is_some_and(|side| side.score.is_some()));
    if !last.nodes.iter().all(|node| has_score(&node.code)) {
        add_no_value_note(page, style.unicode, "a run without a score of the node");
    }
}
