//! A value with its interval, as a bar or as a row of a forest plot.

use std::fmt::Write as _;

use super::{ChartAxis, ChartTone, begin, decimal};

/// Height of a row and its middle, in pixels.
const HEIGHT: u32 = 18;
const MIDDLE: u32 = 9;

/// A value with its interval.
#[derive(Debug, Clone, Copy)]
pub struct IntervalMark<'a> {
    /// The value; `None` if it is undefined.
    pub value: Option<f64>,
    /// Ends of its interval; `None` if there is none.
    pub interval: Option<(f64, f64)>,
    /// Tone of the value.
    pub tone: ChartTone,
    /// The numbers as text, for screen readers.
    pub title: &'a str,
}

/// Draws a bar from the beginning of the axis to the value, the interval as a line across its end, and a line
/// at a reference value such as a threshold.
pub fn interval_bar(axis: ChartAxis, mark: IntervalMark<'_>, reference: Option<f64>) -> String {
    let mut svg = begin("bar", HEIGHT, mark.title);
    svg.push_str("<rect class=\"track\" x=\"0\" y=\"4\" width=\"100%\" height=\"10\" rx=\"2\"/>");
    if let Some(value) = mark.value {
        let _ = write!(
            svg,
            "<rect class=\"fill {}\" x=\"0\" y=\"4\" width=\"{}%\" height=\"10\" rx=\"2\"/>",
            mark.tone.class(),
            decimal(axis.percent(value))
        );
    }
    push_reference(&mut svg, axis, reference);
    push_interval(&mut svg, axis, mark.interval);

    svg + "</svg>"
}

/// Draws a row of a forest plot: the value as a point on its interval, and a line at a reference value.
pub fn interval_point(axis: ChartAxis, mark: IntervalMark<'_>, reference: Option<f64>) -> String {
    let mut svg = begin("point", HEIGHT, mark.title);
    let _ = write!(svg, "<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"{MIDDLE}\" y2=\"{MIDDLE}\"/>");
    push_reference(&mut svg, axis, reference);
    push_interval(&mut svg, axis, mark.interval);
    if let Some(value) = mark.value {
        let _ = write!(
            svg,
            "<circle class=\"fill {}\" cx=\"{}%\" cy=\"{MIDDLE}\" r=\"4.5\"/>",
            mark.tone.class(),
            decimal(axis.percent(value))
        );
    }

    svg + "</svg>"
}

fn push_reference(svg: &mut String, axis: ChartAxis, reference: Option<f64>) {
    let Some(value) = reference.filter(|value| axis.contains(*value)) else { return };
    let x = decimal(axis.percent(value));
    let _ = write!(svg, "<line class=\"reference\" x1=\"{x}%\" x2=\"{x}%\" y1=\"0\" y2=\"{HEIGHT}\"/>");
}

fn push_interval(svg: &mut String, axis: ChartAxis, interval: Option<(f64, f64)>) {
    let Some((low, high)) = interval else { return };
    let (low, high) = (decimal(axis.percent(low)), decimal(axis.percent(high)));
    let _ = write!(
        svg,
        "<line class=\"interval\" x1=\"{low}%\" x2=\"{high}%\" y1=\"{MIDDLE}\" y2=\"{MIDDLE}\"/>"
    );
    for x in [low, high] {
        let _ = write!(svg, "<line class=\"interval\" x1=\"{x}%\" x2=\"{x}%\" y1=\"5\" y2=\"13\"/>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(value: Option<f64>, interval: Option<(f64, f64)>) -> IntervalMark<'static> {
        IntervalMark { value, interval, tone: ChartTone::Bad, title: "half" }
    }

    #[test]
    fn a_bar_ends_at_its_value() {
        let svg = interval_bar(ChartAxis::UNIT, mark(Some(0.5), Some((0.25, 0.7))), None);
        assert!(svg.contains("class=\"fill bad\" x=\"0\" y=\"4\" width=\"50%\""), "{svg}");
        assert!(svg.contains("x1=\"25%\" x2=\"70%\""), "{svg}");
        assert!(!svg.contains("style="), "{svg}");
    }

    #[test]
    fn what_is_undefined_is_not_drawn() {
        let svg = interval_point(ChartAxis::UNIT, mark(None, None), Some(2.0));
        assert!(
            !svg.contains("circle") && !svg.contains("\"interval\"") && !svg.contains("reference"),
            "{svg}"
        );
    }
}
