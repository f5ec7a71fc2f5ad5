//! L0204: one weight that outweighs all others together.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0204"),
    name: "dominant-weight",
    title: "One criterion weighs at least twice as much as all others together.",
    reason: "The score is then nearly this criterion alone. If it is essential, make it `required: true`, and let the weights rank the rest.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria("- {outcome: Names the cause, weight: 10}\n- Gives the date\n- Offers help"),
    good: RuleExample::Criteria(
        "- {outcome: Names the cause, weight: 2, required: true}\n- Gives the date\n- Offers help",
    ),
    check: RuleCheck::Rubric(check),
};

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let positive: Vec<f64> =
        view.rubric().criteria().iter().map(|c| c.weight.get()).filter(|w| *w > 0.0).collect();
    let total: f64 = positive.iter().sum();
    if positive.len() < 3 || !total.is_finite() {
        return;
    }

    for criterion in view.criteria() {
        let weight = criterion.weight();
        if weight < 2.0 * (total - weight) {
            continue;
        }

        let mark = criterion.marks().and_then(|marks| marks.weight.as_ref()).or_else(|| criterion.head());
        if let Some(span) = out.span(mark) {
            Diagnostic::warning(RULE.code, "one criterion decides the score")
                .at(span, format!("{weight} of {total} points"))
                .with_help("lower the weight; if the criterion is essential, make it `required: true`")
                .add_to(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn twice_the_rest_is_the_line() {
        let list = |weight: &str| format!("- {{outcome: a1, weight: {weight}}}\n- b1\n- c1\n");
        assert_eq!(in_criteria("L0204", &list("4")), ["weight: 4"]);
        assert!(in_criteria("L0204", &list("3.9")).is_empty());
        assert!(in_criteria("L0204", "- {outcome: a1, weight: 9}\n- b1\n").is_empty(), "two criteria");
    }
}
