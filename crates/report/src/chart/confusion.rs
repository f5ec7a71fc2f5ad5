//! Confusion matrix of a judge and people.

use std::fmt::Write as _;

use assize_stats::judge_quality::ConfusionTable;

use super::{decimal, escape};
use crate::number::{format_rate, grouped};

/// Draws a judge's verdicts against people's: one cell for each pair of verdicts, darker for a larger share.
/// Cells where both agree have a frame, so that they stand out without colour.
pub fn confusion_matrix(table: &ConfusionTable) -> String {
    /// Left and upper edge of the cells, and their size.
    const LEFT: u32 = 76;
    const TOP: u32 = 44;
    const WIDTH: u32 = 108;
    const HEIGHT: u32 = 56;

    let cells = [
        (0, 0, table.true_pass, "both met"),
        (1, 0, table.false_pass, "judge met, people unmet"),
        (0, 1, table.false_fail, "judge unmet, people met"),
        (1, 1, table.true_fail, "both unmet"),
    ];
    let title: Vec<String> =
        cells.iter().map(|(.., count, name)| format!("{name} {}", grouped(*count))).collect();
    let title = escape(&title.join(", "));
    let mut svg = format!(
        "<svg class=\"chart confusion\" role=\"img\" viewBox=\"0 0 300 164\" aria-label=\"{title}\"><title>{title}</title>\
         <text x=\"184\" y=\"14\" text-anchor=\"middle\">people</text>"
    );
    let total = cells.iter().map(|(.., count, _)| *count).sum::<u64>().max(1) as f64;
    for (column, row, count, _) in cells {
        let (x, y) = (LEFT + column * WIDTH, TOP + row * HEIGHT);
        let share = count as f64 / total;
        let class = if column == row { "agreed" } else { "differed" };
        let _ = write!(
            svg,
            "<rect class=\"cell {class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{}\"/>\
             <text class=\"count\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x + 2,
            y + 2,
            WIDTH - 4,
            HEIGHT - 4,
            decimal(0.08 + 0.42 * share),
            x + WIDTH / 2,
            y + 26,
            grouped(count),
            x + WIDTH / 2,
            y + 44,
            format_rate(share)
        );
    }
    for (at, name) in ["met", "unmet"].into_iter().enumerate() {
        let at = at as u32;
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"36\" text-anchor=\"middle\">{name}</text>\
             <text x=\"68\" y=\"{}\" text-anchor=\"end\">judge {name}</text>",
            LEFT + WIDTH / 2 + at * WIDTH,
            TOP + HEIGHT / 2 + 4 + at * HEIGHT
        );
    }

    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_where_their_verdicts_cross() {
        let table = ConfusionTable { true_pass: 6, false_pass: 1, false_fail: 0, true_fail: 3 };
        let svg = confusion_matrix(&table);
        assert!(svg.contains("<title>both met 6, judge met, people unmet 1, judge unmet, people met 0, both unmet 3</title>"), "{svg}");
        assert!(svg.contains("x=\"186\" y=\"46\" width=\"104\""), "{svg}");
        assert!(svg.contains(">60.0%<") && !svg.contains("style="), "{svg}");
    }
}
