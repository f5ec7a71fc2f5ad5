//! Sample size plan as a table.

use assize_analysis::power::Need;

use crate::number::{grouped, plain};
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};

/// Renders the questions with their answers.
pub fn plan_cases(needs: &[Need], style: Style) -> String {
    let mut page = Page::new(style);
    for need in needs {
        let answer = match (need.answer, need.unit) {
            (None, _) => Piece::new(Tone::Open, "undefined"),
            (Some(number), "difference" | "either way") => {
                Piece::new(Tone::Strong, format!("{} {}", plain((number * 1e4).round() / 1e4), need.unit))
            }
            (Some(number), unit) => Piece::new(Tone::Strong, format!("{} {unit}", grouped(number as u64))),
        };
        page.ends(&[Piece::said(Tone::Plain, &need.question, 300)], &[answer]);
        let about = format!("{} ({})", need.says, need.method);
        page.text(&[Piece::plain("    ")], &[Piece::said(Tone::Dim, &about, 300)]);
    }
    page.finish()
}
