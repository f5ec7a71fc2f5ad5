//! Metrics over runs.

use std::fmt::Write as _;

use assize_store::EstimatedMetric;

use super::escape;

/// Draws metrics over runs, oldest on the left: bars of their intervals, and a dashed line before each that is not
/// comparable with the one before. The numbers stand in a table below, which the chart names.
pub fn trend_chart(title: &str, points: &[(&EstimatedMetric, bool)]) -> String {
    const WIDTH: f64 = 560.0;
    const HEIGHT: f64 = 150.0;
    const LEFT: f64 = 34.0;
    let step = (WIDTH - LEFT - 20.0) / (points.len().max(2) - 1) as f64;
    let x = |at: usize| LEFT + 10.0 + step * at as f64;
    let y = |value: f64| 8.0 + (HEIGHT - 16.0) * (1.0 - value.clamp(0.0, 1.0));
    let title = escape(title);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_not_comparable_are_not_joined() {
        let metric = |value: f64| EstimatedMetric {
            value: Some(value),
            n: 10,
            clusters: None,
            low: Some(value - 0.1),
            high: Some(value + 0.1),
            level: 0.95,
            method: None,
            undefined: None,
            says: String::new(),
        };
        let (first, second, third) = (metric(0.2), metric(0.5), metric(0.8));
        let svg = trend_chart("<Pass> rate", &[(&first, false), (&second, false), (&third, true)]);
        assert_eq!(svg.matches("class=\"link\"").count(), 1);
        assert_eq!(svg.matches("class=\"break\"").count(), 1);
        assert_eq!(svg.matches("class=\"range\"").count(), 3);
        assert!(svg.contains("&lt;Pass&gt; rate of 3 runs"), "{svg}");
    }
}
