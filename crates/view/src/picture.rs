//! Small pictures of pages, as SVG without styles of their own.

use std::fmt::Write as _;

use assize_report::chart::{ChartAxis, ChartTone, IntervalMark, interval_point};
use assize_store::EstimatedMetric;

/// Draws a value with its interval on an axis, with a line at `reference`. The numbers stand beside it, so that it is hidden
/// from screen readers.
pub(crate) fn interval_picture(
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    axis: ChartAxis,
    reference: Option<f64>,
) -> String {
    let mark = IntervalMark { value, interval, tone: ChartTone::Plain, title: "" };
    format!(r#"<span class="picture" aria-hidden="true">{}</span>"#, interval_point(axis, mark, reference))
}

/// Draws a score between 0 and 1 as a bar, what missing results could add lighter, and the threshold as a line. The numbers
/// stand beside it, so that it is hidden from screen readers.
pub(crate) fn score_bar(bounds: Option<(f64, f64)>, threshold: Option<f64>) -> String {
    const WIDTH: f64 = 160.0;
    let at = |value: f64| WIDTH * value.clamp(0.0, 1.0);
    let mut svg = format!(
        r#"<svg class="bar" viewBox="0 0 {WIDTH} 12" width="{WIDTH}" height="12" aria-hidden="true" focusable="false"><rect class="empty" width="{WIDTH}" height="8" y="2"/>"#
    );

    // Writing to a string does not fail.
    if let Some((low, high)) = bounds {
        let (low, high) = (at(low), at(high));
        let _ = write!(
            svg,
            r#"<rect class="possible" x="{low:.1}" width="{:.1}" height="8" y="2"/>"#,
            high - low
        );
        let _ = write!(svg, r#"<rect class="filled" width="{low:.1}" height="8" y="2"/>"#);
    }
    if let Some(threshold) = threshold {
        let _ =
            write!(svg, r#"<line class="threshold" x1="{0:.1}" x2="{0:.1}" y1="0" y2="12"/>"#, at(threshold));
    }

    svg.push_str("</svg>");
    svg
}

/// Draws metrics over runs, oldest on the left: bars of their intervals, and a dashed line before each that is not
/// comparable with the one before. The numbers stand in a table below, which the picture names.
pub(crate) fn trend_picture(title: &str, points: &[(&EstimatedMetric, bool)]) -> String {
    const WIDTH: f64 = 560.0;
    const HEIGHT: f64 = 150.0;
    const LEFT: f64 = 34.0;
    let step = (WIDTH - LEFT - 20.0) / (points.len().max(2) - 1) as f64;
    let x = |at: usize| LEFT + 10.0 + step * at as f64;
    let y = |value: f64| 8.0 + (HEIGHT - 16.0) * (1.0 - value.clamp(0.0, 1.0));
    let mut svg = format!(
        r#"<svg class="trend" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title} of {} runs; the table below has the numbers">"#,
        points.len()
    );

    // Writing to a string does not fail.
    for (value, text) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        let _ = write!(
            svg,
            r#"<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{0:.1}" y2="{0:.1}"/><text x="{1}" y="{2:.1}" text-anchor="end">{text}</text>"#,
            y(value),
            LEFT - 6.0,
            y(value) + 4.0
        );
    }

    let mut before: Option<(f64, f64)> = None;
    for (at, (metric, is_break)) in points.iter().enumerate() {
        if *is_break {
            let _ = write!(
                svg,
                r#"<line class="break" x1="{0:.1}" x2="{0:.1}" y1="4" y2="{1}"/>"#,
                x(at) - step / 2.0,
                HEIGHT - 4.0
            );
            before = None;
        }
        if let Some((low, high)) = metric.low.zip(metric.high) {
            let _ = write!(
                svg,
                r#"<line class="range" x1="{0:.1}" x2="{0:.1}" y1="{1:.1}" y2="{2:.1}"/>"#,
                x(at),
                y(low),
                y(high)
            );
        }

        let here = metric.value.map(|value| (x(at), y(value)));
        if let Some((from, to)) = before.zip(here) {
            let _ = write!(
                svg,
                r#"<line class="link" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
                from.0, from.1, to.0, to.1
            );
        }
        if let Some((x, y)) = here {
            let _ = write!(svg, r#"<circle class="value" cx="{x:.1}" cy="{y:.1}" r="4"/>"#);
        }
        before = here.or(before);
    }

    svg.push_str("</svg>");
    svg
}
