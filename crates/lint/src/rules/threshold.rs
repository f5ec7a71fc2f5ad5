//! L0207: a threshold without effect.

use assize_rubric::at_least;

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0207"),
    name: "idle-threshold",
    title: "Every answer that passes the gates reaches the threshold.",
    reason: "When the required criteria alone bring the score to the threshold, the other criteria can't change the verdict. Raise it, or give the other criteria more weight.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    threshold: 0.5\n    assertions:\n      - type: rubrics\n        criteria:\n          - {outcome: Names the carrier, required: true, weight: 3}\n          - {outcome: Names the date, weight: 2}",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    threshold: 0.8\n    assertions:\n      - type: rubrics\n        criteria:\n          - {outcome: Names the carrier, required: true, weight: 3}\n          - {outcome: Names the date, weight: 2}",
    ),
    check: RuleCheck::Rubric(check),
};

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let Some((line, mark)) = view.threshold().filter(|_| view.alone) else { return };
    let criteria = view.rubric().criteria();
    let positive: f64 = criteria.iter().map(|c| c.weight.get().max(0.0)).sum();
    let required: f64 = criteria
        .iter()
        .filter(|c| c.gate == Some(assize_rubric::Gate::Met))
        .map(|c| c.weight.get().max(0.0))
        .sum();

    let free = criteria.iter().any(|c| c.gate.is_none() && c.weight.get() > 0.0);
    let penalties = criteria.iter().any(|c| c.weight.get() < 0.0);
    let idle = free && !penalties && required > 0.0 && line > 0.0 && at_least(required / positive, line);
    if let Some(span) = out.span(Some(mark)).filter(|_| idle) {
        let label = format!("the required criteria alone give {:.2}", required / positive);
        Diagnostic::warning(RULE.code, "this threshold has no effect")
            .at(span, label)
            .with_help("raise the threshold, or give the optional criteria more weight")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_cases;

    #[test]
    fn the_share_of_the_required_criteria_is_the_line() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_cases("L0207", bad), ["0.5"]);
        assert_eq!(in_cases("L0207", &bad.replace("0.5", "0.6")).len(), 1);
        assert!(in_cases("L0207", &bad.replace("0.5", "0.61")).is_empty());
    }

    #[test]
    fn a_default_line_or_a_second_grader_is_left_alone() {
        let bad = super::RULE.bad.text();
        assert!(
            in_cases("L0207", &bad.replace("    threshold: 0.5\n", "").replace("weight: 3", "weight: 9"))
                .is_empty()
        );
        let second =
            bad.replace("    assertions:\n", "    assertions:\n      - {type: contains, value: x}\n");
        assert!(in_cases("L0207", &second).is_empty());
    }
}
