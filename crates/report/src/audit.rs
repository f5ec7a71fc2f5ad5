//! Audits of order, length and self-preference: as text and as JSON.

use assize_audit::{AuditReport, AuditSection};
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_metric_range, format_metric_value, metrics_json, render_metrics};
use crate::number::{format_count, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Maximum number of sections that are shown.
const MAX_SECTIONS: usize = 15;

/// Renders an audit: its metrics, its sections, the conclusion, and the data that is missing.
pub fn render_audit(report: &AuditReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    render_metrics(&mut page, &report.figures, true);

    // Many sections with one metric each become a table; those that are 0 are covered by the metrics above.
    let is_table = report.sections.len() > 1 && report.sections.iter().all(|part| part.figures.len() == 1);
    let shown: Vec<&AuditSection> = report
        .sections
        .iter()
        .filter(|part| !is_table || part.figures.iter().any(|figure| figure.value != Ok(0.0)))
        .collect();
    let first = &shown[..shown.len().min(MAX_SECTIONS)];
    if is_table {
        render_section_table(&mut page, first);
    } else {
        for section in first {
            page.add_blank();
            page.add_paragraph(ReportPiece::untrusted_name(ReportTone::Strong, &section.title));
            render_metrics(&mut page, &section.figures, true);
        }
    }

    if shown.len() > MAX_SECTIONS {
        let more = (shown.len() - MAX_SECTIONS) as u64;
        page.add_paragraph(ReportPiece::plain(format!(
            "and {}; `--json` has all",
            format_count(more, "part more", "parts more")
        )));
    }

    page.add_blank();
    page.add_paragraph(ReportPiece::new(ReportTone::Strong, &report.says));

    for line in report.unmeasured.iter().chain(&report.missing) {
        page.add_paragraph(ReportPiece::new(ReportTone::Open, line));
    }

    page.finish()
}

/// Renders a table of sections with one metric each.
fn render_section_table(page: &mut ReportPage, parts: &[&AuditSection]) {
    let Some(figure) = parts.first().and_then(|part| part.figures.first()) else { return };
    let rows: Vec<Vec<ReportPiece>> = parts
        .iter()
        .flat_map(|part| part.figures.iter().map(move |figure| (part, figure)))
        .map(|(part, figure)| {
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &part.title),
                ReportPiece::new(ReportTone::Strong, format_metric_value(figure)),
                ReportPiece::plain(format_metric_range(figure)),
                ReportPiece::plain(grouped(figure.n)),
            ]
        })
        .collect();

    let columns = [
        ReportColumn::shrinking("part"),
        ReportColumn::right("value"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("n"),
    ];

    page.add_blank();
    page.add_paragraph(ReportPiece::plain(format!("{}, part by part:", figure.name)));
    render_table(page, 0, &columns, &rows);

    page.add_paragraph(ReportPiece::new(ReportTone::Dim, figure.says));
}

/// Converts an audit to JSON.
pub fn audit_json(report: &AuditReport) -> Value {
    let sections: Vec<Value> = report
        .sections
        .iter()
        .map(|section| json!({ "title": section.title, "metrics": metrics_json(&section.figures) }))
        .collect();
    json!({
        "cases": report.cases,
        "metrics": metrics_json(&report.figures),
        "parts": sections,
        "worst": report.worst.as_ref().map(|(value, of)| json!({ "value": value, "of": of })),
        "says": report.says,
        "unmeasured": report.unmeasured,
        "missing": report.missing,
    })
}
