//! Items as plain text, for pipes and screen readers.

use crate::screen::judge_words;
use crate::wrap::wrap;
use crate::{Item, JudgeSaid, Question};
use std::fmt::Write as _;

/// Renders an item without the judge's decision.
pub fn plain_item(item: &Item, place: usize, all: usize, width: usize) -> String {
    let mut out = assize_report::safe(&format!(
        "{} of {all}: {} {} ({})",
        place + 1,
        item.case,
        item.criterion,
        item.why.words()
    ));
    out.push('\n');
    for section in &item.sections {
        let _ = write!(out, "\n{}:\n", section.title);
        for line in wrap(&section.text, width.saturating_sub(2)) {
            let _ = writeln!(out, "  {line}");
        }
    }
    match &item.question {
        Question::Verdict(None) => out.push_str("\npass, fail, na, unsure? "),
        Question::Verdict(Some(scale)) => {
            let _ = write!(out, "\npass, fail, na, unsure or a score from {} to {}? ", scale.min, scale.max);
        }
        Question::Primary(_) => out.push_str("\ncode of the first failure, or none? "),
    }
    out
}

/// Renders the judge's decision, to be shown after the reviewer's.
pub fn plain_judge(judge: &JudgeSaid) -> String {
    format!("the judge: {}\n", assize_report::safe(&judge_words(judge)))
}
