//! L0206: a criterion without effect.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0206"),
    name: "counts-for-nothing",
    title: "The criterion has weight 0 and no gate.",
    reason: "It is judged and paid for, but changes neither score nor verdict. If it is only informative, add an `allow:` comment.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Criteria("- Names the carrier\n- outcome: Names the driver\n  weight: 0"),
    good: RuleExample::Criteria("- Names the carrier\n- outcome: Names the driver\n  weight: 0.5"),
    check: RuleCheck::Criterion(check),
};

fn check(view: &CriterionView<'_>, out: &mut FindingCollector<'_>) {
    if view.weight() != 0.0 || view.criterion().gate.is_some() {
        return;
    }

    let mark = view.marks().and_then(|marks| marks.weight.as_ref());
    if let Some(span) = out.span(mark) {
        Diagnostic::warning(RULE.code, "this criterion has no effect")
            .at(span, "no gate")
            .with_help("give it a weight or `required: true`, or remove it")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn a_gate_or_a_weight_is_enough() {
        assert_eq!(in_criteria("L0206", super::RULE.bad.text()), ["weight: 0"]);
        assert!(in_criteria("L0206", "- a1\n- {outcome: b1, weight: 0, required: true}\n").is_empty());
        assert!(in_criteria("L0206", "- a1\n- {outcome: b1, weight: 0.1}\n").is_empty());
    }
}
