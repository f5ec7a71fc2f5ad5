//! L0302: score ranges that get worse as the score rises.

use super::prelude::*;
use crate::words::{is_negation, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0302"),
    name: "ranges-fall",
    title: "The lowest range describes a good answer and the highest a bad one.",
    reason: "10 is the best score. Ranges written for a scale on which 1 is best reward the worst answers.",
    source: cited::PROMETHEUS,
    bad: RuleExample::Criteria(
        "- id: facts\n  outcome: The facts\n  score_ranges:\n    0: Excellent, all facts are correct\n    6: Poor, most facts are wrong",
    ),
    good: RuleExample::Criteria(
        "- id: facts\n  outcome: The facts\n  score_ranges:\n    0: Poor, most facts are wrong\n    6: Excellent, all facts are correct",
    ),
    check: RuleCheck::Criterion(check),
};

const GOOD_WORDS: &[&str] = &[
    "excellent", "perfect", "perfectly", "outstanding", "flawless", "complete", "fully", "correct",
    "accurate", "clear", "comprehensive", "strong", "good", "best",
];
const BAD_WORDS: &[&str] = &[
    "poor", "poorly", "bad", "terrible", "wrong", "incorrect", "missing", "fails", "unclear", "useless",
    "unacceptable", "inaccurate", "irrelevant", "incomplete", "worst", "none", "misleading",
];

/// Maximum number of words of a text in which a single word decides the tone.
const MAX_SHORT_WORDS: usize = 6;

/// Returns 1 if good words clearly outnumber bad ones, -1 for the opposite, and 0 otherwise. A negation before
/// a word inverts it. In a longer text, a single word is not enough.
fn measure_tone(text: &str) -> i32 {
    let words = split_words(text);
    let mut sum = 0;
    for (at, word) in words.iter().enumerate() {
        let value = i32::from(GOOD_WORDS.contains(&word.text.as_str()))
            - i32::from(BAD_WORDS.contains(&word.text.as_str()));
        let turned = words[at.saturating_sub(2)..at]
            .iter()
            .any(|before| is_negation(&before.text) || before.text == "nothing");
        sum += if turned { -value } else { value };
    }

    if words.len() > MAX_SHORT_WORDS && sum.abs() < 2 { 0 } else { sum.signum() }
}

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let (Some(bands), Some(marks)) = (view.bands(), view.marks()) else { return };
    let (Some(low), Some(high)) = (bands.as_slice().first(), bands.as_slice().last()) else { return };

    // The score of a penalty measures how bad a fault is.
    if view.weight() <= 0.0 || measure_tone(&low.text) != 1 || measure_tone(&high.text) != -1 {
        return;
    }

    let (Some(span), Some(top)) = (out.span(marks.bands.first()), out.span(marks.bands.last())) else {
        return;
    };
    Diagnostic::warning(RULE.code, "the score ranges are in reverse order")
        .at(span, "lowest score")
        .with_secondary(top, "highest score")
        .with_help("10 is the best score: reverse the ranges")
        .add_to(out);
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    fn found(low: &str, high: &str) -> usize {
        in_criteria("L0302", &format!("- id: a1\n  score_ranges:\n    0: {low}\n    5: {high}\n")).len()
    }

    #[test]
    fn turned_scales_are_found() {
        assert_eq!(found("Fully correct", "Wrong"), 1);
        assert_eq!(found("Nothing is wrong", "Misleading"), 1);
    }

    #[test]
    fn rising_and_neutral_scales_are_fine() {
        assert_eq!(found("Wrong", "Fully correct"), 0);
        assert_eq!(found("Names no carrier", "Names the carrier"), 0);
        assert_eq!(
            found(
                "Puts the good of all first, whatever the cost may be",
                "Calls the act bad and explains at length"
            ),
            0
        );
        assert_eq!(found("Not correct", "No facts are missing"), 0);
    }
}
