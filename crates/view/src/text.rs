//! Texts and small pictures of pages.

use std::fmt::{self, Write as _};

use assize_report::{dollars, escape_unsafe, format_rate, format_score};
use assize_rubric::{OutcomeKind, PartialCost, Usd, Verdict};
use assize_store::EstimatedMetric;

use crate::index::CaseStatus;

/// Escapes what would reorder a text or is invisible in it, such as the escape sequences of terminals; line breaks and tabs
/// stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        for (at, part) in line.trim_end_matches('\r').split('\t').enumerate() {
            if at > 0 {
                out.push('\t');
            }
            out.push_str(&escape_unsafe(part));
        }
        out.push_str(end);
    }

    out
}

/// Sign, word and style class of a verdict or outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultMark {
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) word: String,
}

impl ResultMark {
    pub(crate) fn new(class: &'static str, sign: &'static str, word: impl Into<String>) -> Self {
        Self { class, sign, word: word.into() }
    }

    pub(crate) fn of_verdict(verdict: Verdict) -> Self {
        Self::of_status(CaseStatus::new(verdict, false))
    }

    pub(crate) fn of_status(status: CaseStatus) -> Self {
        let (class, sign) = match status {
            CaseStatus::Pass => ("good", "✓"),
            CaseStatus::Borderline => ("middling", "≈"),
            CaseStatus::Fail => ("bad", "✗"),
            CaseStatus::Incomplete => ("open", "?"),
            CaseStatus::Skipped => ("open", "–"),
        };
        Self::new(class, sign, status.name())
    }

    /// An outcome with its score from 0 to 10, if it has one. Meeting a penalty is bad.
    pub(crate) fn of_outcome(outcome: OutcomeKind, points: Option<f64>, is_penalty: bool) -> Self {
        match outcome {
            OutcomeKind::Met | OutcomeKind::Unmet => {
                let is_good = (outcome == OutcomeKind::Met) != is_penalty;
                let (class, sign) = if is_good { ("good", "✓") } else { ("bad", "✗") };
                Self::new(class, sign, outcome.name())
            }
            OutcomeKind::Scored => {
                let word = points.map_or_else(|| "scored".to_owned(), |points| format!("{}/10", trim(points)));
                Self::new("middling", "•", word)
            }
            OutcomeKind::NotApplicable => Self::new("dim", "–", "n/a"),
            OutcomeKind::Ungraded => Self::new("open", "?", "ungraded"),
        }
    }
}

impl fmt::Display for ResultMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, sign, word } = self;
        write!(f, r#"<span class="mark {class}"><span aria-hidden="true">{sign}</span> {word}</span>"#)
    }
}

/// A number with at most two decimals, cut rather than rounded up.
fn trim(points: f64) -> String {
    let text = format!("{:.2}", (points * 100.0).floor() / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Text of a cost: what is known of it, or that nothing is.
pub(crate) fn cost_text(whole: Option<Usd>, partial: Option<PartialCost>) -> String {
    match (whole, partial) {
        (Some(cost), _) => dollars(cost.as_dollars()),
        (None, Some(partial)) if partial.at_least_usd.as_dollars() > 0.0 => {
            format!("≥ {}", dollars(partial.at_least_usd.as_dollars()))
        }
        _ => "unknown".to_owned(),
    }
}

/// `2026-01-02 15:30` of a time in RFC 3339.
pub(crate) fn minute(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute}"),
        _ => time.to_owned(),
    }
}

/// A metric as a page shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MetricText {
    /// The metric; `undefined` where it is.
    pub(crate) value: String,
    /// `low to high`; empty where it is undefined.
    pub(crate) interval: String,
    /// Reason it, or its interval, is undefined.
    pub(crate) undefined: String,
    pub(crate) n: u64,
    /// Picture of the interval between 0 and 1, as SVG.
    pub(crate) picture: String,
}

impl MetricText {
    /// A share, as percentages.
    pub(crate) fn rate(metric: &EstimatedMetric) -> Self {
        Self::new(metric, format_rate)
    }

    /// A mean of scores from 0 to 1.
    pub(crate) fn score(metric: &EstimatedMetric) -> Self {
        Self::new(metric, format_score)
    }

    fn new(metric: &EstimatedMetric, format: fn(f64) -> String) -> Self {
        let interval = metric.low.zip(metric.high);
        Self {
            value: metric.value.map_or_else(|| "undefined".to_owned(), format),
            interval: interval.map_or_else(String::new, |(low, high)| {
                format!("{} to {}", format(low), format(high))
            }),
            undefined: metric.undefined.clone().unwrap_or_default(),
            n: metric.n,
            picture: interval_picture(metric.value, interval, (0.0, 1.0)),
        }
    }
}

/// Draws a value with its interval on an axis. The numbers stand beside it, so that it is hidden from screen readers.
pub(crate) fn interval_picture(value: Option<f64>, interval: Option<(f64, f64)>, axis: (f64, f64)) -> String {
    const WIDTH: f64 = 160.0;
    let at = |value: f64| 4.0 + (WIDTH - 8.0) * ((value - axis.0) / (axis.1 - axis.0)).clamp(0.0, 1.0);
    let mut svg = format!(
        r#"<svg class="interval" viewBox="0 0 {WIDTH} 16" width="{WIDTH}" height="16" aria-hidden="true" focusable="false"><line class="axis" x1="4" x2="156" y1="8" y2="8"/>"#
    );

    // Writing to a string does not fail.
    if axis.0 < 0.0 {
        let _ = write!(svg, r#"<line class="zero" x1="{0:.1}" x2="{0:.1}" y1="1" y2="15"/>"#, at(0.0));
    }
    if let Some((low, high)) = interval.filter(|(low, high)| low.is_finite() && high.is_finite()) {
        let (low, high) = (at(low), at(high));
        let _ = write!(
            svg,
            r#"<line class="range" x1="{low:.1}" x2="{high:.1}" y1="8" y2="8"/><line class="range" x1="{low:.1}" x2="{low:.1}" y1="4" y2="12"/><line class="range" x1="{high:.1}" x2="{high:.1}" y1="4" y2="12"/>"#
        );
    }
    if let Some(value) = value.filter(|value| value.is_finite()) {
        let _ = write!(svg, r#"<circle class="value" cx="{:.1}" cy="8" r="3.5"/>"#, at(value));
    }

    svg.push_str("</svg>");
    svg
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
        let _ = write!(svg, r#"<rect class="possible" x="{low:.1}" width="{:.1}" height="8" y="2"/>"#, high - low);
        let _ = write!(svg, r#"<rect class="filled" width="{low:.1}" height="8" y="2"/>"#);
    }
    if let Some(threshold) = threshold {
        let _ = write!(svg, r#"<line class="threshold" x1="{0:.1}" x2="{0:.1}" y1="0" y2="12"/>"#, at(threshold));
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
            let _ = write!(svg, r#"<line class="break" x1="{0:.1}" x2="{0:.1}" y1="4" y2="{1}"/>"#, x(at) - step / 2.0, HEIGHT - 4.0);
            before = None;
        }
        if let Some((low, high)) = metric.low.zip(metric.high) {
            let _ = write!(svg, r#"<line class="range" x1="{0:.1}" x2="{0:.1}" y1="{1:.1}" y2="{2:.1}"/>"#, x(at), y(low), y(high));
        }

        let here = metric.value.map(|value| (x(at), y(value)));
        if let Some((from, to)) = before.zip(here) {
            let _ = write!(svg, r#"<line class="link" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#, from.0, from.1, to.0, to.1);
        }
        if let Some((x, y)) = here {
            let _ = write!(svg, r#"<circle class="value" cx="{x:.1}" cy="{y:.1}" r="4"/>"#);
        }
        before = here.or(before);
    }

    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_text_and_lines_stay() {
        assert_eq!(visible("a\u{1b}[31m\r\nb\tc\u{202e}d"), "a\\u{1b}[31m\nb\tc\\u{202e}d");
        assert_eq!(visible("\n\n"), "\n\n");
    }

    #[test]
    fn scores_are_not_lifted_onto_whole_numbers() {
        assert_eq!(trim(6.999), "6.99");
        assert_eq!(trim(7.0), "7");
    }

    #[test]
    fn undefined_metrics_have_no_picture_of_a_number() {
        let picture = interval_picture(Some(f64::NAN), None, (0.0, 1.0));
        assert!(!picture.contains("NaN") && !picture.contains("circle"), "{picture}");
    }
}
