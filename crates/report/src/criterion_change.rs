//! Change of a criterion that was judged again.

use assize_store::CriterionRow;

use crate::criterion::CriterionLine;
use crate::mark::VerdictMark;
use crate::page::{ReportPage, ReportPiece};
use crate::style::{ReportStyle, ReportTone};

/// Renders a criterion as text, with a newline after each line. Below its text comes `before → after` if an
/// earlier decision is given (`unmet → met`, `4/10 → 7/10`), then the reason and the evidence.
pub fn render_criterion_change(
    before: Option<&CriterionRow>,
    after: &CriterionRow,
    text: Option<&str>,
    style: ReportStyle,
) -> String {
    let mut page = ReportPage::new(style);
    let mark = |row: &CriterionRow| VerdictMark::for_criterion(row, false);
    if let Some(before) = before {
        let (was, is) = (mark(before), mark(after));
        page.add_line(&[
            ReportPiece::untrusted_name(ReportTone::Dim, &after.id),
            ReportPiece::plain("  "),
            ReportPiece::new(was.tone, was.word),
            ReportPiece::plain(" → "),
            ReportPiece::new(is.tone, is.word),
        ]);
    }

    let notes = CriterionLine::notes(after);
    CriterionLine::from_row(after, text, false, false, &notes).put(&mut page, 2);

    page.finish()
}
