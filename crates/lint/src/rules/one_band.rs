//! L0304: a single range for every score.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0304"),
    name: "one-range",
    title: "One score range covers every score.",
    reason: "The text names the quality, but not the difference between a 3 and an 8. Judges then use the scale differently.",
    source: cited::PROMETHEUS,
    bad: RuleExample::Criteria(
        "- id: tone\n  outcome: The tone towards the customer\n  score_ranges:\n    0: How polite the answer is",
    ),
    good: RuleExample::Criteria(
        "- id: tone\n  outcome: The tone towards the customer\n  score_ranges:\n    0: Insults the customer\n    4: Neutral\n    8: Thanks the customer",
    ),
    check: RuleCheck::Criterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let (Some(bands), Some(marks)) = (view.bands(), view.marks()) else { return };
    if let (1, Some(span)) = (bands.as_slice().len(), out.span(marks.bands.first())) {
        Diagnostic::warning(RULE.code, "one range covers every score")
            .at(span, "0 to 10")
            .with_help("describe at least three levels, or write a criterion that is met or unmet")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn two_ranges_are_a_scale() {
        assert_eq!(in_criteria("L0304", "- {id: a1, score_ranges: {0: All of it}}\n"), ["All of it"]);
        assert!(in_criteria("L0304", "- {id: a1, score_ranges: {0: Some, 5: More}}\n").is_empty());
        assert!(in_criteria("L0304", "- All of it\n").is_empty());
    }
}
