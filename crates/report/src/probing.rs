//! Audits of order, length and self-preference: as text and as JSON.

use assize_audit::{AuditReport, Section};
use serde_json::{Value, json};

use crate::Style;
use crate::figures::{figure_lines, figures_json, or_undefined, range};
use crate::number::{count, grouped};
use crate::page::{Page, Piece};
use crate::style::Tone;
use crate::table::{Column, table};

/// Maximum number of sections that are shown.
const MAX_SECTIONS: usize = 15;

/// Renders an audit: the metrics, the sections, the conclusion, and what is missing.
pub fn probing(report: &AuditReport, style: Style) -> String {
    let mut page = Page::new(style);
    figure_lines(&mut page, &report.figures);
    // Many sections with one metric each become a table; those that are 0 are covered by the metrics above.
    let is_table = report.sections.len() > 1 && report.sections.iter().all(|part| part.figures.len() == 1);
    let shown: Vec<&Section> = report
        .sections
        .iter()
        .filter(|part| !is_table || part.figures.iter().any(|figure| figure.value != Ok(0.0)))
        .collect();
    let first = &shown[..shown.len().min(MAX_SECTIONS)];
    if is_table {
        parts(&mut page, first);
    } else {
        for section in first {
            page.blank();
            page.text(&[], &[Piece::name(Tone::Strong, &section.title)]);
            figure_lines(&mut page, &section.figures);
        }
    }
    if shown.len() > MAX_SECTIONS {
        let more = (shown.len() - MAX_SECTIONS) as u64;
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

/// Renders a table of sections with one metric each.
fn parts(page: &mut Page, parts: &[&Section]) {
    let Some(figure) = parts.first().and_then(|part| part.figures.first()) else { return };
    let rows: Vec<Vec<Piece>> = parts
        .iter()
        .flat_map(|part| part.figures.iter().map(move |figure| (part, figure)))
        .map(|(part, figure)| {
            vec![
                Piece::name(Tone::Plain, &part.title),
                Piece::new(Tone::Strong, or_undefined(figure.value)),
                Piece::plain(range(figure.interval)),
                Piece::plain(grouped(figure.n)),
            ]
        })
        .collect();
    let columns =
        [Column::shrinking("part"), Column::right("value"), Column::left("95%"), Column::right("n")];
    page.blank();
    page.text(&[], &[Piece::plain(format!("{}, part by part:", figure.name))]);
    table(page, 0, &columns, &rows);
    page.text(&[], &[Piece::new(Tone::Dim, figure.says)]);
}

/// Converts an audit to JSON.
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
