//! Drift of a judge over runs: as text and as JSON.

use assize_analysis::drift::{CHANGED, DriftPoint, DriftReport};
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_p_value, format_value};
use crate::number::{format_plain, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize::sanitize_name;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Renders the runs with what changed, and a conclusion.
pub fn render_drift(report: &DriftReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let columns = [
        ReportColumn::shrinking("run"),
        ReportColumn::right("anchors"),
        ReportColumn::right("changed"),
        ReportColumn::right("shift"),
        ReportColumn::right("p"),
        ReportColumn::right("evidence"),
        ReportColumn::left(""),
    ];
    let rows: Vec<Vec<ReportPiece>> = report
        .points
        .iter()
        .enumerate()
        .map(|(at, point)| {
            let tone = if report.changed_at.is_some_and(|changed| at >= changed) {
                ReportTone::Middling
            } else {
                ReportTone::Plain
            };
            let cell = |text: Option<String>| ReportPiece::new(tone, text.unwrap_or_default());
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &point.label),
                cell(point.step.map(|_| grouped(point.anchors as u64))),
                cell(point.step.map(|_| grouped(point.changed as u64))),
                cell(point.step.map(|step| format!("{:+.3}", step.shift))),
                cell(point.step.map(|step| format_p_value(step.p))),
                cell(point.step.map(|step| format_value(step.evidence))),
                ReportPiece::new(
                    ReportTone::Middling,
                    if point.renamed { "other judge or prompt" } else { "" },
                ),
            ]
        })
        .collect();
    render_table(&mut page, 0, &columns, &rows);
    page.add_blank();
    for line in conclusions(report) {
        page.add_paragraph(ReportPiece::plain(line));
    }
    page.finish()
}

fn conclusions(report: &DriftReport) -> Vec<String> {
    let mut lines = Vec::new();
    match report.changed_at.map(|at| &report.points[at]) {
        Some(point) => {
            let shift = point.step.map_or(0.0, |step| step.shift);
            lines.push(format!(
                "The judge has probably changed: in {}, it is {} on the same answers ({:+.3} of decisions met). Scores before and after are not \
                 comparable.",
                sanitize_name(&point.label),
                if shift < 0.0 { "stricter" } else { "more lenient" },
                shift
            ));
        }
        None if report.points.iter().any(|point| point.renamed) => lines.push(format!(
            "The runs name different judges or prompts, but no change in their decisions was detected: the evidence stays below {0}, which an \
             unchanged judge reaches after {0} runs or more on average.",
            format_plain(CHANGED)
        )),
        None => lines.push(format!(
            "No change of the judge was detected: the evidence stays below {0}, which an unchanged judge reaches after \
             {0} runs or more on average.",
            format_plain(CHANGED)
        )),
    }
    let cached: usize = report.points.iter().map(|point| point.cached).sum();
    if cached > 0 {
        lines.push(format!(
            "{} decisions came from the reply cache and are not counted.",
            grouped(cached as u64)
        ));
    }
    lines
}

/// Converts the runs to JSON.
pub fn drift_json(report: &DriftReport) -> Value {
    let point = |point: &DriftPoint| {
        json!({
            "run": point.label,
            "anchors": point.anchors,
            "changed": point.changed,
            "cached": point.cached,
            "other_judge": point.renamed,
            "shift": point.step.map(|step| step.shift),
            "p": point.step.map(|step| step.p),
            "evidence": point.step.map(|step| step.evidence),
        })
    };
    json!({
        "runs": report.points.iter().map(point).collect::<Vec<_>>(),
        "threshold": CHANGED,
        "changed_at": report.changed_at.map(|at| &report.points[at].label),
    })
}
