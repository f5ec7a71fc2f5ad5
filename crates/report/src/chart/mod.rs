//! Charts as SVG: bars and points with intervals, parts of a whole, the reliability of a judge and its errors.
//!
//! A chart has no script, no `style` attribute and no colours, so that a page with a strict content security policy
//! needs no exception for it. Elements have classes, and the page's style sheet colours them for both themes. Widths
//! are percentages, so a chart fits any container and its lines keep their thickness. Each chart has a title with its
//! numbers for screen readers. Results of writing to a string are ignored, because that never fails.

mod axis;
mod confusion;
mod interval;
mod reliability;
mod shares;
mod trend;

pub use axis::{ChartAxis, axis_labels};
pub use confusion::confusion_matrix;
pub use interval::{IntervalMark, interval_bar, interval_point};
pub use reliability::{ReliabilityPoint, reliability_curve};
pub use shares::{ChartShare, share_bar};
pub use trend::trend_chart;

use std::fmt::Write as _;

/// Tone of a drawn element: whether its value is good for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartTone {
    /// As it should be.
    Good,
    /// Between good and bad.
    Middling,
    /// Not as it should be.
    Bad,
    /// Unknown.
    Open,
    /// Neither good nor bad.
    Plain,
}

impl ChartTone {
    /// Class of the tone in style sheets.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Middling => "middling",
            Self::Bad => "bad",
            Self::Open => "open",
            Self::Plain => "plain",
        }
    }
}

/// Begins a chart that is as wide as its container and `height` pixels high.
fn begin(class: &str, height: u32, title: &str) -> String {
    let title = escape(title);
    format!(
        "<svg class=\"chart {class}\" role=\"img\" width=\"100%\" height=\"{height}\" aria-label=\"{title}\">\
         <title>{title}</title>"
    )
}

/// Escapes text for an element or an attribute.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::sanitize::escape_unsafe(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }

    out
}

/// Writes a number with up to two decimals.
fn decimal(value: f64) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write!(text, "{value:.2}");

    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_text_and_nothing_else() {
        let svg = begin("x", 10, "a <b> \"c\" & \u{1b}[1m");
        assert!(svg.contains("<title>a &lt;b&gt; &quot;c&quot; &amp; \\u{1b}[1m</title>"), "{svg}");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([decimal(50.0), decimal(33.333), decimal(-0.001)], ["50", "33.33", "0"]);
    }
}
