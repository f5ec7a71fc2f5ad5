//! Reliability curve of a judge: how often its probabilities come true.

use std::fmt::Write as _;

use super::{decimal, escape};

/// A bin of a reliability curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityPoint {
    /// Mean probability that the judge gave, 0 to 1.
    pub predicted: f64,
    /// Share that came true, 0 to 1.
    pub observed: f64,
    /// Interval of that share; `None` if there is none.
    pub interval: Option<(f64, f64)>,
    /// Number of decisions in the bin.
    pub count: u64,
}

/// Draws the points, larger for more decisions, and the diagonal on which a perfectly calibrated judge would
/// be.
pub fn reliability_curve(points: &[ReliabilityPoint], title: &str) -> String {
    /// Edges of the square, and its size.
    const EDGE: f64 = 36.0;
    const SIZE: f64 = 248.0;

    let x = |share: f64| decimal(EDGE + SIZE * share.clamp(0.0, 1.0));
    let y = |share: f64| decimal(EDGE + SIZE * (1.0 - share.clamp(0.0, 1.0)));
    let title = escape(title);
    let mut svg = format!(
        "<svg class=\"chart reliability\" role=\"img\" viewBox=\"0 0 320 320\" aria-label=\"{title}\"><title>{title}</title>\
         <rect class=\"frame\" x=\"{EDGE}\" y=\"{EDGE}\" width=\"{SIZE}\" height=\"{SIZE}\"/>\
         <line class=\"reference\" x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{3}\"/>",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0)
    );

    let most = points.iter().map(|point| point.count).max().unwrap_or(1).max(1) as f64;
    for point in points.iter().filter(|point| point.count > 0) {
        let (at, observed) = (x(point.predicted), y(point.observed));
        if let Some((low, high)) = point.interval {
            let _ = write!(
                svg,
                "<line class=\"interval\" x1=\"{at}\" x2=\"{at}\" y1=\"{}\" y2=\"{}\"/>",
                y(low),
                y(high)
            );
        }
        let radius = decimal(2.5 + 4.5 * (point.count as f64 / most).sqrt());
        let _ = write!(
            svg,
            "<circle class=\"fill plain\" cx=\"{at}\" cy=\"{observed}\" r=\"{radius}\"><title>{} decisions: {} expected, \
             {} observed</title></circle>",
            point.count,
            decimal(point.predicted),
            decimal(point.observed)
        );
    }

    for (share, label) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"300\" text-anchor=\"middle\">{label}</text>\
             <text x=\"30\" y=\"{}\" text-anchor=\"end\" dominant-baseline=\"middle\">{label}</text>",
            x(share),
            y(share)
        );
    }

    svg + "<text x=\"160\" y=\"316\" text-anchor=\"middle\">probability given</text>\
           <text x=\"36\" y=\"22\">share that came true</text></svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_without_decisions_are_not_drawn() {
        let point =
            |count| ReliabilityPoint { predicted: 0.5, observed: 0.25, interval: Some((0.1, 0.4)), count };
        let svg = reliability_curve(&[point(0), point(10)], "judge");
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(svg.contains("cx=\"160\" cy=\"222\""), "{svg}");
    }
}
