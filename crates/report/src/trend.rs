//! Trend over runs: metrics with error bars, a sparkline, and marks where the method of measurement changed.

use assize_analysis::trend::Point;
use assize_store::Figure;

use crate::clean;
use crate::number::{self, grouped};
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};
use crate::table::{Column, table};

/// Width of an error bar.
const BAR: usize = 21;

const COLUMNS: [Column; 6] = [
    Column::shrinking("run"),
    Column::right("cases"),
    Column::right("pass rate"),
    Column::left("0        0.5        1"),
    Column::right("mean score"),
    Column::left(""),
];

/// Renders a trend, the oldest run first.
pub fn trend(points: &[Point], style: Style) -> String {
    let mut page = Page::new(style);
    page.rule("Trend");
    for (name, figure) in [("Pass rate", rate as fn(&Point) -> &Figure), ("Mean score", score)] {
        let line = spark(points, figure, style.unicode);
        page.text(&[Piece::new(Tone::Dim, format!("{name:<12}"))], &[Piece::new(Tone::Strong, line)]);
    }
    page.blank();
    let rows: Vec<Vec<Piece>> = points
        .iter()
        .map(|point| {
            vec![
                Piece::name(Tone::Plain, &point.label),
                Piece::plain(grouped(point.cases as u64)),
                Piece::plain(with_interval(&point.pass_rate)),
                Piece::plain(bar(&point.pass_rate, style.unicode)),
                Piece::plain(with_interval(&point.mean_score)),
                if point.changed.is_empty() { Piece::plain("") } else { Piece::new(Tone::Middling, "⚠") },
            ]
        })
        .collect();
    table(&mut page, 0, &COLUMNS, &rows);
    let changed: Vec<&Point> = points.iter().filter(|point| !point.changed.is_empty()).collect();
    if !changed.is_empty() {
        page.blank();
        page.text(
            &[],
            &[Piece::new(
                Tone::Middling,
                "Not comparable with what stands above, because the way of measuring changed:",
            )],
        );
    }
    for point in changed {
        for change in &point.changed {
            page.text(
                &[Piece::new(Tone::Middling, "⚠ ")],
                &[
                    Piece::name(Tone::Plain, &point.label),
                    Piece::plain(": "),
                    Piece::said(Tone::Plain, &change.says, clean::REASON),
                ],
            );
        }
    }
    let undecided: usize = points.iter().map(|point| point.undecided).sum();
    if undecided > 0 {
        page.blank();
        let text = format!("{} undecided cases are left out of these figures.", grouped(undecided as u64));
        page.text(&[], &[Piece::new(Tone::Open, text)]);
    }
    page.finish()
}

fn rate(point: &Point) -> &Figure {
    &point.pass_rate
}

fn score(point: &Point) -> &Figure {
    &point.mean_score
}

fn with_interval(figure: &Figure) -> String {
    match (figure.value, figure.low, figure.high) {
        (Some(value), Some(low), Some(high)) => {
            format!("{} [{}, {}]", number::score_column(value), number::score(low), number::score(high))
        }
        (Some(value), _, _) => number::score_column(value),
        _ => "undefined".to_owned(),
    }
}

/// Draws one block per run, its height the metric on the scale from 0 to 1. A mark precedes a run with a
/// changed method.
fn spark(points: &[Point], figure: fn(&Point) -> &Figure, unicode: bool) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const DIGITS: [char; 8] = ['0', '1', '2', '3', '5', '6', '7', '9'];
    let signs = if unicode { BLOCKS } else { DIGITS };
    let mut line = String::new();
    for point in points {
        if !point.changed.is_empty() {
            line.push('|');
        }
        line.push(match figure(point).value {
            None => '?',
            Some(value) => signs[(value.clamp(0.0, 1.0) * 7.999) as usize],
        });
    }
    line
}

/// Draws the metric and its interval on a scale from 0 to 1.
fn bar(figure: &Figure, unicode: bool) -> String {
    let (Some(value), Some(low), Some(high)) = (figure.value, figure.low, figure.high) else {
        return String::new();
    };
    let place = |value: f64| (value.clamp(0.0, 1.0) * (BAR - 1) as f64).round() as usize;
    let (line, dot) = if unicode { ('─', '●') } else { ('-', 'o') };
    (0..BAR)
        .map(|at| match at {
            at if at == place(value) => dot,
            at if (place(low)..=place(high)).contains(&at) => line,
            _ => ' ',
        })
        .collect()
}
