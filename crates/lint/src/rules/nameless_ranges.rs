//! L0305: score ranges without a text about the property that they measure.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0305"),
    name: "ranges-without-text",
    title: "Score ranges without a text do not say what they measure.",
    reason: "The judge only sees the id and the ranges. `Poor`, `acceptable` and `excellent` mean little without the quality they describe. Name that quality in one sentence.",
    source: cited::PROMETHEUS,
    bad: RuleExample::Criteria(
        "- id: tone\n  score_ranges:\n    0: Insults the customer\n    4: Neutral\n    8: Thanks the customer",
    ),
    good: RuleExample::Criteria(
        "- id: tone\n  outcome: The tone towards the customer\n  score_ranges:\n    0: Insults the customer\n    4: Neutral\n    8: Thanks the customer",
    ),
    check: RuleCheck::Criterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    let (Some(_), Some(marks)) = (view.bands(), view.marks()) else { return };
    let is_nameless = view.text().trim().is_empty();
    if let (true, Some(span)) = (is_nameless, out.span(marks.head.as_ref())) {
        Diagnostic::warning(RULE.code, "score ranges without a text")
            .at(span, "what do they measure?")
            .with_help("add `outcome`: one sentence that names the quality")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn an_id_is_no_text() {
        let ranges = "score_ranges: {0: Poor, 5: Good}";
        assert_eq!(in_criteria("L0305", &format!("- {{id: tone, {ranges}}}\n")).len(), 1);
        assert!(in_criteria("L0305", &format!("- {{outcome: The tone, {ranges}}}\n")).is_empty());
        assert!(in_criteria("L0305", "- The tone is polite\n").is_empty());
    }
}
