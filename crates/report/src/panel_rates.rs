//! Error rates of the raters of a panel: as text and as JSON.

use assize_analysis::MetricEstimate;
use assize_analysis::panel::PanelReport;
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_metric_range, format_metric_value, format_p_value, metrics_json};
use crate::number::{format_count, format_percent, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize::sanitize_name;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Renders the raters with their error rates, and the limits of these estimates.
pub fn render_panel_rates(report: &PanelReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let text = format!(
        "{} of {} on {}",
        format_count(report.votes as u64, "vote", "votes"),
        format_count(report.raters.len() as u64, "rater", "raters"),
        format_count(report.items as u64, "item", "items")
    );
    page.add_paragraph(ReportPiece::plain(text));
    page.add_blank();

    let columns = [
        ReportColumn::shrinking("rater"),
        ReportColumn::right("votes"),
        ReportColumn::right("sensitivity"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("specificity"),
        ReportColumn::left("95% CI"),
        ReportColumn::right("with majority"),
        ReportColumn::right("weight"),
    ];
    let value = |figure: &MetricEstimate| ReportPiece::new(ReportTone::Strong, format_metric_value(figure));
    let range = |figure: &MetricEstimate| ReportPiece::plain(format_metric_range(figure));
    let rows: Vec<Vec<ReportPiece>> = report
        .raters
        .iter()
        .map(|rater| {
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &rater.name),
                ReportPiece::plain(grouped(rater.votes as u64)),
                value(&rater.sensitivity),
                range(&rater.sensitivity),
                value(&rater.specificity),
                range(&rater.specificity),
                ReportPiece::plain(format_percent(
                    rater.with_majority.0 as u64, rater.with_majority.1 as u64,
                )),
                ReportPiece::plain(format!("{:.2}", rater.weight)),
            ]
        })
        .collect();
    render_table(&mut page, 0, &columns, &rows);
    page.add_blank();

    let range = format_metric_range(&report.prevalence);
    let interval = report.prevalence.interval.map_or_else(|_| String::new(), |_| format!(" ({range})"));
    let mut lines = vec![format!(
        "Truly met: {}{interval} of the items. The weighted votes disagree with the majority on {}; {} no majority.",
        format_metric_value(&report.prevalence),
        format_count(report.overruled as u64, "item", "items"),
        match report.ties {
            1 => "1 has".to_owned(),
            ties => format!("{} have", grouped(ties as u64)),
        }
    )];
    if report.is_small {
        lines.push(format!(
            "{} {} too few to tell errors from chance: read the intervals, not the values.",
            format_count(report.items as u64, "item", "items"),
            if report.items == 1 { "is" } else { "are" }
        ));
    }
    if !report.can_depend {
        lines.push("Correlated errors can be detected from four raters on, not from three.".to_owned());
    } else if report.dependent.is_empty() {
        lines.push("No two raters make significantly correlated errors.".to_owned());
    }
    for (first, second, p) in &report.dependent {
        lines.push(format!(
            "{} and {} agree more often than these rates explain (p {}): some raters make correlated errors, and all rates may be \
             wrong.",
            sanitize_name(first),
            sanitize_name(second),
            format_p_value(*p)
        ));
    }
    lines.push(
        "No labels were used, so errors that all raters share are invisible. To find them, label cases and run `assize calibrate`."
            .to_owned(),
    );
    for line in lines {
        page.add_paragraph(ReportPiece::plain(line));
    }

    page.finish()
}

/// Converts the error rates to JSON.
pub fn panel_rates_json(report: &PanelReport) -> Value {
    let raters: Vec<Value> = report
        .raters
        .iter()
        .map(|rater| {
            json!({
                "name": rater.name,
                "votes": rater.votes,
                "metrics": metrics_json(&[rater.sensitivity, rater.specificity]),
                "with_majority": rater.with_majority.0,
                "with_majority_of": rater.with_majority.1,
                "weight": rater.weight,
            })
        })
        .collect();
    let dependent: Vec<Value> = report
        .dependent
        .iter()
        .map(|(first, second, p)| json!({ "raters": [first, second], "p_adjusted": p }))
        .collect();

    json!({
        "items": report.items,
        "votes": report.votes,
        "prevalence": metrics_json(&[report.prevalence])["prevalence"],
        "raters": raters,
        "overruled": report.overruled,
        "ties": report.ties,
        "dependent": report.can_depend.then_some(dependent),
    })
}
