//! Charts of pages. The same numbers are next to them as text, so the charts are hidden from screen readers.

use assize_report::chart::{ChartAxis, ChartTone, IntervalMark, interval_bar, interval_point};

/// Draws a value with its interval on an axis, with a line at `reference`.
pub(crate) fn interval_picture(
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    axis: ChartAxis,
    reference: Option<f64>,
) -> String {
    let mark = IntervalMark { value, interval, tone: ChartTone::Plain, title: "" };
    hidden(&interval_point(axis, mark, reference))
}

/// Draws a score between 0 and 1 as a bar, the range left open by missing results as an interval, and the
/// threshold as a line.
pub(crate) fn score_bar(bounds: Option<(f64, f64)>, threshold: Option<f64>) -> String {
    let mark = IntervalMark {
        value: bounds.map(|(low, _)| low),
        interval: bounds.filter(|(low, high)| low < high),
        tone: ChartTone::Plain,
        title: "",
    };
    hidden(&interval_bar(ChartAxis::UNIT, mark, threshold))
}

fn hidden(chart: &str) -> String {
    format!(r#"<span class="picture" aria-hidden="true">{chart}</span>"#)
}
