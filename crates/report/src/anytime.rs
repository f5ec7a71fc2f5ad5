//! Text of a comparison that may be checked repeatedly while the run goes on.

use assize_analysis::compare::AnytimeComparison;

use crate::ReportStyle;
use crate::number::{format_count, format_percent, format_plain};
use crate::page::{ReportPage, ReportPiece};
use crate::sanitize::sanitize_name;
use crate::style::ReportTone;

/// Renders the interval so far as a part of a line.
pub fn render_anytime_line(found: &AnytimeComparison) -> String {
    format!(
        "{:+.3} ({:+.3} to {:+.3}) after {}",
        found.difference,
        found.low,
        found.high,
        format_count(found.clusters as u64, "case", "cases")
    )
}

/// Renders the interval so far, and the number of cases after which the comparison was clear.
pub fn render_anytime(candidate: &str, found: &AnytimeComparison, style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    let text = format!(
        "Valid at any time ({}): {}; {}% CI.",
        sanitize_name(candidate),
        render_anytime_line(found),
        format_plain(100.0 * found.level)
    );
    page.add_paragraph(ReportPiece::new(ReportTone::Strong, text));

    let clear = found.decided_after.or(found.equivalent_after);
    let line = match clear {
        Some(after) => {
            let left = (found.clusters - after) as u64;
            format!(
                "{} after {}; the other {} ({}) were not needed.",
                if found.decided_after.is_some() {
                    "The difference was significant"
                } else {
                    "Equivalence was shown"
                },
                format_count(after as u64, "case", "cases"),
                left,
                format_percent(left, found.clusters as u64)
            )
        }
        None => "Inconclusive so far: further cases may show a difference.".to_owned(),
    };
    page.add_paragraph(ReportPiece::plain(line));
    format!("\n{}", page.finish())
}
