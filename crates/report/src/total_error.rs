//! The sources of error of a mean: as text and as JSON.

use assize_analysis::total_error::{ErrorComponent, ErrorFacet, TotalError};
use assize_stats::{UndefinedReason, repeats::CrossedDesign};
use serde_json::{Value, json};

use crate::ReportStyle;
use crate::metrics::{format_value, value_json};
use crate::number::{format_count, format_plain, format_rate, grouped, undefined_because};
use crate::page::{ReportPage, ReportPiece};
use crate::style::ReportTone;
use crate::table::{ReportColumn, render_table};

/// The requested width of the interval, and the cheapest designs that reach it for a mean and for a
/// comparison.
pub type ErrorDesigns = (f64, [Result<CrossedDesign, UndefinedReason>; 2]);

/// Renders the components of the variance, the total error, and designs.
pub fn render_total_error(found: &TotalError, designs: Option<&ErrorDesigns>, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let levels: Vec<String> = found
        .facets
        .iter()
        .zip(&found.variance.levels)
        .map(|(facet, levels)| count(*facet, *levels))
        .collect();
    let text = format!(
        "{} of {}, mean {}",
        format_count(found.variance.n as u64, "score", "scores"),
        levels.join(" x "),
        format_value(found.variance.mean)
    );
    page.add_paragraph(ReportPiece::plain(text));
    page.add_blank();

    let whole: f64 = found.components.iter().filter_map(|part| part.variance.value.ok()).sum();
    let columns = [
        ReportColumn::left("source"),
        ReportColumn::right("variance"),
        ReportColumn::left("95% CI over cases"),
        ReportColumn::right("share"),
    ];
    let rows: Vec<Vec<ReportPiece>> = found
        .components
        .iter()
        .map(|part| {
            let value = part.variance.value.unwrap_or_default();
            let share = if whole > 0.0 { format_rate(value / whole) } else { String::new() };
            let range = part
                .variance
                .interval
                .map_or_else(|_| String::new(), |found| format!("{:.4} to {:.4}", found.low, found.high));
            vec![
                ReportPiece::plain(name(part, found)),
                ReportPiece::new(ReportTone::Strong, format!("{value:.4}")),
                ReportPiece::plain(range),
                ReportPiece::plain(share),
            ]
        })
        .collect();
    render_table(&mut page, 0, &columns, &rows);
    page.add_blank();
    for line in lines(found, designs) {
        page.add_paragraph(ReportPiece::plain(line));
    }
    page.finish()
}

fn count(facet: ErrorFacet, number: usize) -> String {
    let name = facet.name();
    format_count(number as u64, name, &format!("{name}s"))
}

fn name(part: &ErrorComponent, found: &TotalError) -> String {
    let names: Vec<&str> = part.facets.iter().map(|facet| facet.name()).collect();
    let is_last = part.facets.len() == found.facets.len() && found.variance.repeats.is_none();
    match (names.is_empty(), is_last) {
        (true, _) => "repeats".to_owned(),
        (false, true) => format!("{}, repeats", names.join(" x ")),
        (false, false) => names.join(" x "),
    }
}

fn lines(found: &TotalError, designs: Option<&ErrorDesigns>) -> Vec<String> {
    let mut lines = Vec::new();
    let beside: Vec<String> = found.facets[1..].iter().map(|facet| format!("{}s", facet.name())).collect();
    let beside = beside.join(" and ");
    lines.push(match (found.se_cases, found.se_total) {
        (Err(reason), Err(_)) => format!("The standard error of the mean is undefined: {reason}. Add cases that differ."),
        (cases, total) => format!(
            "Standard error of the mean: {} with these {beside}; {} if the {beside} are a sample of all that you could have used.",
            format_error(cases),
            format_error(total)
        ),
    });
    for (facet, levels) in &found.few {
        lines.push(format!(
            "Only {levels} {name}s: the variance between {name}s is a rough estimate, and the intervals (over cases) do not \
             show that.",
            name = facet.name()
        ));
    }
    if found.variance.negative {
        lines.push(
            "A variance was estimated below 0 and counts as 0: it is small, or there are too few values to tell."
                .to_owned(),
        );
    }
    if let Some((width, [mean, compared])) = designs {
        let [mean, compared] = [mean, compared].map(|design| describe(design, found));
        lines.push(format!("Cheapest design for a 95% CI of full width {}: {mean}.", format_plain(*width)));
        lines.push(format!(
            "With the same {beside}, as when you compare two targets: {compared} for each target; paired differences need fewer \
             (`assize calibrate power`)."
        ));
    }
    lines
}

fn format_error(error: Result<f64, UndefinedReason>) -> String {
    error.map_or_else(undefined_because, format_value)
}

fn describe(design: &Result<CrossedDesign, UndefinedReason>, found: &TotalError) -> String {
    match design {
        Err(UndefinedReason::Unreachable) => {
            format!("none: {}, even with ten of everything but cases", UndefinedReason::Unreachable)
        }
        Err(reason) => undefined_because(reason),
        Ok(design) => {
            let mut parts: Vec<String> = found
                .facets
                .iter()
                .zip(&design.numbers)
                .map(|(facet, number)| count(*facet, *number))
                .collect();
            if design.repeats > 1 {
                parts.push(format!("{} repeats", design.repeats));
            }
            format!("{}, at the cost of {} calls", parts.join(" × "), grouped(design.calls.ceil() as u64))
        }
    }
}

/// Converts the components of the variance to JSON.
pub fn total_error_json(found: &TotalError, designs: Option<&ErrorDesigns>) -> Value {
    let components: Vec<Value> = found
        .components
        .iter()
        .map(|part| {
            let mut object = value_json(part.variance.value, part.variance.interval, part.variance.n);
            object["source"] = name(part, found).into();
            object
        })
        .collect();
    let design = |design: &Result<CrossedDesign, UndefinedReason>| match design {
        Err(reason) => json!({ "undefined": reason.to_string() }),
        Ok(design) => {
            let mut object =
                json!({ "repeats": design.repeats, "calls": design.calls, "standard_error": design.error });
            for (facet, number) in found.facets.iter().zip(&design.numbers) {
                object[format!("{}s", facet.name())] = (*number).into();
            }
            object
        }
    };
    let levels: serde_json::Map<String, Value> = found
        .facets
        .iter()
        .zip(&found.variance.levels)
        .map(|(facet, levels)| (format!("{}s", facet.name()), (*levels).into()))
        .collect();
    json!({
        "n": found.variance.n,
        "mean": found.variance.mean,
        "levels": levels,
        "components": components,
        "negative": found.variance.negative,
        "standard_error": found.se_total.ok(),
        "standard_error_of_cases": found.se_cases.ok(),
        "standard_error_undefined": found.se_total.err().map(|reason| reason.to_string()),
        "few_levels": found.few.iter().map(|(facet, _)| facet.name()).collect::<Vec<_>>(),
        "design": designs.map(|(width, [mean, compared])| json!({
            "width": width,
            "mean": design(mean),
            "comparison": design(compared),
        })),
    })
}
