//! Audits of orders, lengths and families: as text and for programs.

use assize_audit::AuditReport;
use serde_json::{Value, json};

use crate::Style;
use crate::figures::{figure_lines, figures_json};
use crate::number::count;
use crate::page::{Page, Piece};
use crate::style::Tone;

/// Parts of an audit that are shown.
const MAX_SECTIONS: usize = 15;

/// What an audit found: the whole, its parts, what may be concluded, what is missing.
pub fn probing(report: &AuditReport, style: Style) -> String {
    let mut page = Page::new(style);
    figure_lines(&mut page, &report.figures);
    for section in report.sections.iter().take(MAX_SECTIONS) {
        page.blank();
        page.text(&[], &[Piece::name(Tone::Strong, &section.title)]);
        figure_lines(&mut page, &section.figures);
    }
    if report.sections.len() > MAX_SECTIONS {
        let more = (report.sections.len() - MAX_SECTIONS) as u64;
        page.text(
            &[],
            &[Piece::plain(format!("and {}, see `--json`", count(more, "part more", "parts more")))],
        );
    }
    page.blank();
    page.text(&[], &[Piece::new(Tone::Strong, &report.says)]);
    for line in report.unmeasured.iter().chain(&report.missing) {
        page.text(&[], &[Piece::new(Tone::Open, line)]);
    }
    page.finish()
}

/// The same for programs.
pub fn probing_json(report: &AuditReport) -> Value {
    let sections: Vec<Value> = report
        .sections
        .iter()
        .map(|section| json!({ "title": section.title, "figures": figures_json(&section.figures) }))
        .collect();
    json!({
        "cases": report.cases,
        "figures": figures_json(&report.figures),
        "parts": sections,
        "worst": report.worst.as_ref().map(|(value, of)| json!({ "value": value, "of": of })),
        "says": report.says,
        "unmeasured": report.unmeasured,
        "missing": report.missing,
    })
}
