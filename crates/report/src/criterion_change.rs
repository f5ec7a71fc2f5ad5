//! Change of a criterion that was judged again.

use assize_store::CriterionRow;

use crate::criterion::CriterionLine;
use crate::mark::Mark;
use crate::page::{Page, Piece};
use crate::style::{Style, Tone};

/// Renders a criterion as text, with a newline after each line: below its text `before → after` if an earlier
/// decision is given (`unmet → met`, `4/10 → 7/10`), then the reason and the evidence.
pub fn criterion_change(
    before: Option<&CriterionRow>,
    after: &CriterionRow,
    text: Option<&str>,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    let mark = |row: &CriterionRow| Mark::outcome(row.outcome, row.score_of_ten(), row.weight);
    if let Some(before) = before {
        let (was, is) = (mark(before), mark(after));
        page.line(&[
            Piece::name(Tone::Dim, &after.id),
            Piece::plain("  "),
            Piece::new(was.tone, was.word),
            Piece::plain(" → "),
            Piece::new(is.tone, is.word),
        ]);
    }
    let notes = CriterionLine::notes(after);
    CriterionLine::of(after, text, false, &notes).put(&mut page, 2);
    page.finish()
}
