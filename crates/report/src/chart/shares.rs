//! Parts of a whole in one bar.

use std::fmt::Write as _;

use super::{ChartTone, begin, decimal};

/// A part of a whole.
#[derive(Debug, Clone, Copy)]
pub struct ChartShare<'a> {
    /// Name of the part.
    pub name: &'a str,
    /// Its size in the unit of all parts.
    pub size: usize,
    /// Its tone.
    pub tone: ChartTone,
}

/// Draws the parts next to each other. A small part is drawn wider than its share, so that it can be seen.
pub fn share_bar(parts: &[ChartShare<'_>]) -> String {
    /// Minimum width of a part, in percent, before all widths are scaled to fill the bar.
    const MIN_WIDTH: f64 = 1.0;

    let parts: Vec<&ChartShare<'_>> = parts.iter().filter(|part| part.size > 0).collect();
    let title: Vec<String> = parts.iter().map(|part| format!("{} {}", part.size, part.name)).collect();
    let mut svg = begin("shares", 14, &title.join(", "));

    let total = parts.iter().map(|part| part.size).sum::<usize>() as f64;
    let widths: Vec<f64> =
        parts.iter().map(|part| (100.0 * part.size as f64 / total).max(MIN_WIDTH)).collect();
    let scale = 100.0 / widths.iter().sum::<f64>();
    let mut x = 0.0;
    for (part, width) in parts.iter().zip(widths) {
        let width = width * scale;
        let _ = write!(
            svg,
            "<rect class=\"fill {}\" x=\"{}%\" y=\"0\" width=\"{}%\" height=\"14\"/>",
            part.tone.class(),
            decimal(x),
            decimal(width)
        );
        x += width;
    }

    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_visible_and_all_fit() {
        let part = |name, size| ChartShare { name, size, tone: ChartTone::Plain };
        let svg = share_bar(&[part("passed", 100_000), part("failed", 1), part("skipped", 0)]);
        assert!(svg.contains("100000 passed, 1 failed<"), "{svg}");
        assert!(svg.contains("width=\"0.99%\""), "{svg}");
        assert_eq!(svg.matches("<rect").count(), 2);
    }
}
