//! L0209: a rubric that consists of penalties.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0209"),
    name: "only-penalties",
    title: "No criterion has a positive weight, so an empty answer gets full marks.",
    reason: "The score begins at 1 and every penalty lowers it, so nothing rewards a good answer. Say what the answer must do, or write what it must not do as a criterion with a positive weight: \"Does not ...\".",
    source: "HealthBench (arXiv:2505.08775): an example without positive points has no score",
    bad: RuleExample::Criteria("- outcome: Blames the customer\n  weight: -2"),
    good: RuleExample::Criteria("- outcome: Does not blame the customer\n  weight: 2"),
    check: RuleCheck::Rubric(check),
};

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    if view.rubric().criteria().iter().any(|criterion| criterion.weight.get() > 0.0) {
        return;
    }

    let mark = view.grader.marks.iter().find_map(|marks| marks.weight.as_ref());
    if let Some(span) = out.span(mark) {
        Diagnostic::warning(RULE.code, "this rubric rewards nothing")
            .at(span, "only penalties")
            .with_help("give at least one criterion a positive weight")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn one_positive_weight_is_enough() {
        assert_eq!(in_criteria("L0209", super::RULE.bad.text()), ["weight: -2"]);
        assert!(
            in_criteria("L0209", "- {outcome: a1, weight: -2}\n- {outcome: b1, weight: 0.1}\n").is_empty()
        );
    }
}
