//! Trend over runs: metrics with error bars, a sparkline, and marks where the method of measurement changed.

use assize_analysis::trend::TrendPoint;
use assize_store::EstimatedMetric;

use crate::number::{self, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize;
use crate::style::{ReportStyle, ReportTone};
use crate::table::{ReportColumn, render_table};

/// Width of an error bar, in columns.
const BAR_WIDTH: usize = 21;

const COLUMNS: [ReportColumn; 7] = [
    ReportColumn::shrinking("run"),
    ReportColumn::shrinking("result"),
    ReportColumn::right("cases"),
    ReportColumn::right("pass rate, 95% CI"),
    ReportColumn::picture("0%       50%     100%"),
    ReportColumn::right("mean score, 95% CI"),
    ReportColumn::left(""),
];

/// Numbers of runs to show for [`crate::fit_screen`], the most generous first.
pub const TREND_ROWS: [usize; 6] = [usize::MAX, 28, 24, 20, 14, 8];

/// Renders a trend, the oldest run first; the newest `rows` runs by themselves.
pub fn render_trend(points: &[TrendPoint], rows: usize, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    page.add_rule("Trend");
    let earlier = points.len().saturating_sub(rows);

    for (name, figure) in [
        ("Pass rate", (|point| &point.pass_rate) as fn(&TrendPoint) -> &EstimatedMetric),
        ("Mean score", |point| &point.mean_score),
    ] {
        // A mark precedes a run with a changed method.
        let values = points.iter().map(|point| (!point.changed.is_empty(), figure(point).value));
        let line = draw_blocks(values, style.unicode);
        page.add_labelled(ReportTone::Dim, format!("{name:<12}"), ReportPiece::new(ReportTone::Strong, line));
    }

    if points.iter().any(|point| point.pass_rate.value.is_none() || point.mean_score.value.is_none()) {
        add_no_value_note(&mut page, style.unicode, "a run in which the metric is undefined");
    }

    page.add_blank();
    let rows: Vec<Vec<ReportPiece>> = points[earlier..]
        .iter()
        .map(|point| {
            let tone = ReportTone::of_exit_code(point.exit_code);
            vec![
                ReportPiece::untrusted_name(ReportTone::Plain, &point.label),
                ReportPiece::untrusted(tone, &point.result, sanitize::MAX_REASON),
                ReportPiece::plain(grouped(point.cases as u64)),
                ReportPiece::plain(format_metric(&point.pass_rate, number::format_rate)),
                ReportPiece::plain(draw_bar(&point.pass_rate, style.unicode)),
                ReportPiece::plain(format_metric(&point.mean_score, number::format_score)),
                if point.changed.is_empty() {
                    ReportPiece::plain("")
                } else {
                    ReportPiece::new(ReportTone::Middling, "⚠")
                },
            ]
        })
        .collect();

    if earlier > 0 {
        let runs = number::format_count(earlier as u64, "earlier run", "earlier runs");
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, format!("{runs}: `--verbose`")));
    }
    render_table(&mut page, 0, &COLUMNS, &rows);
    let changes = points[earlier..]
        .iter()
        .flat_map(|point| point.changed.iter().map(|change| (point.label.as_str(), change.says.as_str())));
    add_changes(&mut page, "the measurement changed", changes);

    if points.len() > 1 {
        page.add_blank();
        let text = "Runs of an unchanged system differ by chance, and the best and the worst of many differ most. Before you conclude that one is better, \
                    compare two with `assize compare` that you did not choose by their results.";
        page.add_paragraph(ReportPiece::new(ReportTone::Dim, text));
    }

    let undecided: usize = points.iter().map(|point| point.incomplete).sum();
    if undecided > 0 {
        page.add_blank();
        let text = format!("{} incomplete cases are excluded from these metrics.", grouped(undecided as u64));
        page.add_paragraph(ReportPiece::new(ReportTone::Open, text));
    }

    page.finish()
}

/// Adds the reasons why runs are not comparable with earlier ones, each after the label of its run.
pub(crate) fn add_changes<'a>(
    page: &mut ReportPage,
    why: &str,
    changes: impl Iterator<Item = (&'a str, &'a str)>,
) {
    let mut changes = changes.peekable();
    if changes.peek().is_none() {
        return;
    }

    page.add_blank();
    let text = format!("Not comparable with earlier runs, because {why}:");
    page.add_paragraph(ReportPiece::new(ReportTone::Middling, text));
    for (label, change) in changes {
        page.add_text(
            &[ReportPiece::new(ReportTone::Middling, "⚠ ")],
            &[
                ReportPiece::untrusted_name(ReportTone::Plain, label),
                ReportPiece::plain(": "),
                ReportPiece::untrusted(ReportTone::Plain, change, sanitize::MAX_REASON),
            ],
        );
    }
}

fn format_metric(figure: &EstimatedMetric, format: fn(f64) -> String) -> String {
    match (figure.value, figure.low, figure.high) {
        (Some(value), Some(low), Some(high)) => {
            format!("{} ({} to {})", format(value), format(low), format(high))
        }
        (Some(value), _, _) => format(value),
        _ => number::UNDEFINED.to_owned(),
    }
}

/// Draws one block per value, its height the value on a scale from 0 to 1. A mark precedes each marked value.
pub(crate) fn draw_blocks(values: impl Iterator<Item = (bool, Option<f64>)>, unicode: bool) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const DIGITS: [char; 8] = ['0', '1', '2', '3', '5', '6', '7', '9'];

    let signs = if unicode { BLOCKS } else { DIGITS };
    let mut line = String::new();
    for (is_marked, value) in values {
        if is_marked {
            line.push('|');
        }
        line.push(match value {
            None => no_value_sign(unicode),
            Some(value) => signs[(value.clamp(0.0, 1.0) * 7.999) as usize],
        });
    }

    line
}

/// Sign that [`draw_blocks`] uses for a run without a value.
const fn no_value_sign(unicode: bool) -> char {
    if unicode { '·' } else { '.' }
}

/// Adds the meaning of the sign for a run without a value.
pub(crate) fn add_no_value_note(page: &mut ReportPage, unicode: bool, meaning: &str) {
    let text = format!("{} {meaning}", no_value_sign(unicode));
    page.add_paragraph(ReportPiece::new(ReportTone::Dim, text));
}

/// Draws the metric and its interval on a scale from 0 to 1.
fn draw_bar(figure: &EstimatedMetric, unicode: bool) -> String {
    let (Some(value), Some(low), Some(high)) = (figure.value, figure.low, figure.high) else {
        return String::new();
    };
    let place = |value: f64| (value.clamp(0.0, 1.0) * (BAR_WIDTH - 1) as f64).round() as usize;
    let (line, dot) = if unicode { ('─', '●') } else { ('-', 'o') };
    (0..BAR_WIDTH)
        .map(|at| match at {
            at if at == place(value) => dot,
            at if (place(low)..=place(high)).contains(&at) => line,
            _ => ' ',
        })
        .collect()
}
