//! Rescaling of a judge: as text and as JSON.

use assize_analysis::calibrate::{RescaleFit, RescaleMethod, RescaleReport, RescaleResult};
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_or_undefined, format_range, format_value, metrics_json};
use crate::number::{NO_VALUE, format_count, format_plain};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize::sanitize_name;
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// Renders the rescaling methods with their errors, the threshold, and the best fit.
pub fn render_rescaling(report: &RescaleReport, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let text = format!(
        "{} in {}, {} parts of cross-validation",
        format_count(report.pairs as u64, "pair", "pairs"),
        format_count(report.clusters as u64, "cluster", "clusters"),
        report.folds
    );
    page.add_paragraph(ReportPiece::plain(text));
    page.add_blank();

    let error = report.methods.first().map_or("", |result| result.error.name);
    let mut columns =
        vec![ReportColumn::left("rescaled"), ReportColumn::right(error), ReportColumn::left("95% CI")];
    if report.scores {
        columns.push(ReportColumn::right("conformal"));
    }
    let rows: Vec<Vec<ReportPiece>> = report
        .methods
        .iter()
        .enumerate()
        .map(|(at, result)| {
            let tone = if at == report.best { ReportTone::Strong } else { ReportTone::Plain };
            let mut row = vec![
                ReportPiece::new(tone, result.method.name()),
                ReportPiece::new(tone, format_or_undefined(result.error.value)),
                ReportPiece::plain(format_range(result.error.interval)),
            ];
            row.extend(result.radius.map(|radius| {
                ReportPiece::plain(
                    radius.map_or_else(|_| NO_VALUE.to_owned(), |size| format!("±{}", format_value(size))),
                )
            }));
            row
        })
        .collect();
    render_table(&mut page, 0, &columns, &rows);
    page.add_blank();

    for line in conclusion_lines(report) {
        page.add_paragraph(ReportPiece::plain(line));
    }

    page.finish()
}

fn conclusion_lines(report: &RescaleReport) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(best) = report.methods.get(report.best) {
        lines.push(match best.method {
            RescaleMethod::None => {
                "No rescaling has a smaller error on items that it was not fitted to.".to_owned()
            }
            method => format!(
                "Smallest error on items that it was not fitted to: {}. Fitted to all: {}.",
                method.name(),
                best.fit.as_ref().map_or_else(ToString::to_string, describe_fit)
            ),
        });
        if let Some(Ok(radius)) = best.radius {
            lines.push(format!(
                "{}% of further scores of people lie within {} of the rescaled score, if cases are like these.",
                format_plain(report.level * 100.0),
                format_value(radius)
            ));
        }
    }

    for system in &report.systems {
        let size = system.radius.map_or_else(
            |_| "too few pairs to say".to_owned(),
            |radius| format!("±{}", format_value(radius)),
        );
        lines.push(format!(
            "Of `{}` alone: {size} ({}).",
            sanitize_name(&system.system),
            format_count(system.pairs as u64, "pair", "pairs")
        ));
    }

    match &report.threshold {
        Some(Ok(found)) => lines.push(format!(
            "Threshold with the highest balanced accuracy: {}. By cross-validation it reaches {}, and 0.5 reaches {}.",
            format_value(found.threshold),
            format_or_undefined(found.chosen),
            format_or_undefined(found.half)
        )),
        Some(Err(reason)) => lines.push(format!("No threshold: {reason}.")),
        None => {}
    }

    lines
}

/// Describes a fit. The points of a step function are only in the JSON.
fn describe_fit(fit: &RescaleFit) -> String {
    match fit {
        RescaleFit::Identity => "x".to_owned(),
        RescaleFit::Line { slope, offset } => {
            format!("{} + {} x", format_value(*offset), format_value(*slope))
        }
        RescaleFit::Platt(fit) => {
            format!("1 / (1 + exp({} x + {}))", format_value(fit.slope), format_value(fit.offset))
        }
        RescaleFit::Isotonic(fit) => {
            let steps = fit.points().chunk_by(|a, b| a.1 == b.1).count();
            format!("a function of {}", format_count(steps as u64, "step", "steps"))
        }
    }
}

/// Converts the rescalings to JSON.
pub fn rescaling_json(report: &RescaleReport) -> Value {
    let fit = |fit: &RescaleFit| match fit {
        RescaleFit::Identity => json!({}),
        RescaleFit::Line { slope, offset } => json!({ "slope": slope, "offset": offset }),
        RescaleFit::Platt(fit) => json!({ "slope": fit.slope, "offset": fit.offset }),
        RescaleFit::Isotonic(fit) => json!({ "points": fit.points() }),
    };
    let one = |result: &RescaleResult| {
        json!({
            "method": result.method.name(),
            "error": metrics_json(&[result.error])[result.error.id],
            "fit": result.fit.as_ref().map(fit).ok(),
            "conformal_radius": result.radius.and_then(Result::ok),
        })
    };
    let threshold = report.threshold.as_ref().map(|found| match found {
        Ok(found) => json!({
            "threshold": found.threshold,
            "balanced_accuracy": found.chosen.ok(),
            "balanced_accuracy_at_half": found.half.ok(),
        }),
        Err(reason) => json!({ "undefined": reason.to_string() }),
    });

    json!({
        "of": if report.scores { "scores" } else { "verdicts" },
        "pairs": report.pairs,
        "clusters": report.clusters,
        "folds": report.folds,
        "level": report.level,
        "methods": report.methods.iter().map(one).collect::<Vec<_>>(),
        "best": report.methods.get(report.best).map(|result| result.method.name()),
        "systems": report.systems.iter().map(|one| json!({
            "system": one.system,
            "pairs": one.pairs,
            "conformal_radius": one.radius.ok(),
        })).collect::<Vec<_>>(),
        "threshold": threshold,
    })
}
