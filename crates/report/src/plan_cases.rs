//! Sample size plan as a table.

use assize_analysis::power::SampleSizeAnswer;

use crate::number::{UNDEFINED, format_plain, grouped};
use crate::page::{ReportPage, ReportPiece};
use crate::style::{ReportStyle, ReportTone};

/// Renders the questions with their answers.
pub fn render_plan(needs: &[SampleSizeAnswer], style: ReportStyle) -> String {
    let mut page = ReportPage::new(style);
    for need in needs {
        let answer = match (need.answer, need.unit) {
            (None, _) => ReportPiece::new(ReportTone::Open, UNDEFINED),
            (Some(number), "difference" | "either way") => ReportPiece::new(
                ReportTone::Strong,
                format!("{} {}", format_plain((number * 1e4).round() / 1e4), need.unit),
            ),
            (Some(number), unit) => {
                ReportPiece::new(ReportTone::Strong, format!("{} {unit}", grouped(number as u64)))
            }
        };

        page.add_split_line(&[ReportPiece::untrusted(ReportTone::Plain, &need.question, 300)], &[answer]);
        let about = format!("{} ({})", need.says, need.method);
        page.add_indented(4, ReportPiece::untrusted(ReportTone::Dim, &about, 300));
    }

    page.finish()
}
