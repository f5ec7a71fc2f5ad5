//! Metrics over runs.

use std::fmt::Write as _;

use assize_analysis::compare::MetricUnit;
use assize_store::EstimatedMetric;

use super::escape;

/// Draws metrics over runs, oldest on the left: a bar for each interval, and a dashed line before each run
/// that is not comparable with the one before. `times` are the start times as stored in the runs. The
/// label for screen readers refers to the table below the chart, which has the numbers.
pub fn trend_chart(
    title: &str,
    unit: MetricUnit,
    points: &[(&EstimatedMetric, bool)],
    times: &[&str],
) -> String {
    const WIDTH: f64 = 560.0;
    /// Height of the dates below the chart.
    const DATES_HEIGHT: f64 = 20.0;
    const HEIGHT: f64 = 150.0;
    const LEFT: f64 = 42.0;
    let step = (WIDTH - LEFT - 20.0) / (points.len().max(2) - 1) as f64;
    let x = |at: usize| LEFT + 10.0 + step * at as f64;
    let y = |value: f64| 8.0 + (HEIGHT - 16.0) * (1.0 - value.clamp(0.0, 1.0));
    let title = escape(title);
    let mut svg = format!(
        r#"<svg class="trend" viewBox="0 0 {WIDTH} {}" role="img" aria-label="{title} of {} runs; the table below has the numbers">"#,
        HEIGHT + DATES_HEIGHT,
        points.len()
    );

    // Writing to a string does not fail.
    let labels = match unit {
        MetricUnit::Rate => ["0%", "50%", "100%"],
        MetricUnit::Score => ["0", "0.5", "1"],
    };
    for (value, text) in [0.0, 0.5, 1.0].into_iter().zip(labels) {
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

    for (at, anchor, date) in axis_dates(times) {
        let date = escape(&date);
        let _ = write!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">{date}</text>"#,
            x(at),
            HEIGHT + DATES_HEIGHT - 4.0
        );
    }

    svg.push_str("</svg>");
    svg
}

/// Returns the runs whose date is written below the axis, each with the `text-anchor` of its label: the first
/// run, the last one and, of four or more, one in the middle. If a date repeats, the label shows the time of
/// day instead.
fn axis_dates(times: &[&str]) -> Vec<(usize, &'static str, String)> {
    let last = times.len().saturating_sub(1);
    let mut places = vec![(0, "start")];
    if last > 2 {
        places.push((last / 2, "middle"));
    }
    if last > 0 {
        places.push((last, "end"));
    }

    let mut before = None;
    let named = places.into_iter().filter_map(|(at, anchor)| {
        let time = times.get(at)?;
        let day = time.get(..10).unwrap_or(time);
        let is_same = before.replace(day) == Some(day);
        let text = if is_same { time.get(11..16).unwrap_or(day) } else { day };
        Some((at, anchor, text.to_owned()))
    });
    named.collect()
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
        let svg = trend_chart(
            "<Pass> rate",
            MetricUnit::Rate,
            &[(&first, false), (&second, false), (&third, true)],
            &[],
        );
        assert!(svg.contains(">50%</text>"), "{svg}");
        assert_eq!(svg.matches("class=\"link\"").count(), 1);
        assert_eq!(svg.matches("class=\"break\"").count(), 1);
        assert_eq!(svg.matches("class=\"range\"").count(), 3);
        assert!(svg.contains("&lt;Pass&gt; rate of 3 runs"), "{svg}");
    }

    #[test]
    fn the_axis_has_dates_and_the_time_of_a_further_run_of_a_day() {
        let texts = |times: &[&str]| -> Vec<(usize, String)> {
            axis_dates(times).into_iter().map(|(at, _, text)| (at, text)).collect()
        };
        let days =
            ["2026-03-01T09:30:00Z", "2026-03-02T10:00:00Z", "2026-03-04T10:00:00Z", "2026-03-04T18:05:00Z"];
        assert_eq!(
            texts(&days),
            [(0, "2026-03-01".to_owned()), (1, "2026-03-02".to_owned()), (3, "2026-03-04".to_owned())]
        );
        assert_eq!(texts(&days[2..]), [(0, "2026-03-04".to_owned()), (1, "18:05".to_owned())]);
        assert_eq!(texts(&days[..1]), [(0, "2026-03-01".to_owned())]);
        assert!(texts(&[]).is_empty());
        assert_eq!(texts(&["é"]), [(0, "é".to_owned())], "a time that nobody can read is shown as it is");
    }
}
