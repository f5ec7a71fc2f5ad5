//! L0113: a criterion that refers to another one.

use super::prelude::*;
use crate::words::{find_any_phrase, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0113"),
    name: "refers-to-another",
    title: "The criterion refers to other criteria.",
    reason: "Criteria are judged one at a time, so the judge does not see \"the above\". A criterion must be complete in itself.",
    source: cited::ONE_AT_A_TIME,
    bad: RuleExample::Criteria("- Names the carrier\n- Meets all of the above criteria in two sentences"),
    good: RuleExample::Criteria("- Names the carrier\n- Has at most two sentences"),
    check: RuleCheck::Criterion(check),
};

const REFERENCE_PHRASES: &[&str] = &[
    "the above", "as above", "see above", "above criteria", "above criterion", "previous criterion",
    "previous criteria", "preceding criterion", "preceding criteria", "other criteria", "other criterion",
    "criterion above", "criteria above", "the other rubrics", "previous rubric", "other rubrics",
    "criterion below", "criteria below",
];

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let text = view.text();
    let words = split_words(text);
    let Some(range) = find_any_phrase(&words, REFERENCE_PHRASES) else { return };

    // A text of several lines may refer to lines of its own.
    if text.trim().contains('\n') || view.bands().is_some() || text[range.start..].starts_with("the above-") {
        return;
    }

    if let Some(span) = out.part_span(view.text_mark(), text, range) {
        Diagnostic::warning(RULE.code, "the judge does not see other criteria")
            .at(span, "not there")
            .with_help("make this criterion complete in itself")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{finds, silent};

    #[test]
    fn references_are_found() {
        finds("L0113", &["Same as above", "Agrees with the previous criterion", "Meets the other criteria"]);
    }

    #[test]
    fn places_in_the_answer_are_fine() {
        silent(
            "L0113",
            &[
                "Names a price above 10", "Lists the hiring criteria", "Prints\nthe above",
                "Puts the sum below",
            ],
        );
    }
}
