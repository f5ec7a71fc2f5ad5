//! Items as plain text, for pipes and screen readers.

use crate::screen::judge_words;
use crate::wrap::wrap_text;
use crate::{JudgeAccount, ReviewItem, ReviewQuestion};
use std::fmt::Write as _;

/// Renders an item without the judge's decision.
pub fn render_plain_item(item: &ReviewItem, place: usize, all: usize, width: usize) -> String {
    let mut out = assize_report::escape_unsafe(&format!(
        "{} of {all}: {} {} ({})",
        place + 1,
        item.case,
        item.criterion,
        item.describe_blindly()
    ));

    out.push('\n');

    for section in &item.sections {
        let _ = write!(out, "\n{}:\n", section.title);
        for line in wrap_text(&section.text, width.saturating_sub(2)) {
            let _ = writeln!(out, "  {line}");
        }
    }

    match &item.question {
        ReviewQuestion::Verdict(None) => out.push_str("\npass, fail, na, unsure? "),
        ReviewQuestion::Verdict(Some(scale)) => {
            let _ = write!(out, "\na score from {} to {}, na or unsure? ", scale.min, scale.max);
        }
        ReviewQuestion::Primary(_) => out
            .push_str("\ncode of the first failure, none (a failure without a code) or clean (no failure)? "),
    }

    out
}

/// Renders the judge's decision, to be shown after the reviewer's.
pub fn render_plain_judge(item: &ReviewItem, judge: &JudgeAccount) -> String {
    let words = assize_report::escape_unsafe(&judge_words(judge));
    format!("the judge: {words}\n({})\n", item.why.describe())
}
