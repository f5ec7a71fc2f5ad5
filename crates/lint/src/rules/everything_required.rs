//! L0202: a rubric in which every criterion is required.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0202"),
    name: "everything-required",
    title: "Every criterion is required, so weights and score have no effect.",
    reason: "One unmet criterion fails the case whatever the score is. Require only what an answer is useless without, and weigh the rest. A criterion written as a plain string is required, too.",
    source: cited::GUIDE,
    bad: RuleExample::Criteria(
        "- {outcome: Names the cause, required: true, weight: 3}\n- {outcome: Gives the date, required: true, weight: 2}\n- {outcome: Offers help, required: true}\n- {outcome: Has a greeting, required: true, weight: 0.5}",
    ),
    good: RuleExample::Criteria(
        "- {outcome: Names the cause, required: true, weight: 3}\n- {outcome: Gives the date, weight: 2}\n- {outcome: Offers help}\n- {outcome: Has a greeting, weight: 0.5}",
    ),
    check: RuleCheck::Rubric(check),
};

const MIN_CRITERIA: usize = 4;

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let criteria = view.rubric().criteria();
    if criteria.len() < MIN_CRITERIA || criteria.iter().any(|criterion| criterion.gate.is_none()) {
        return;
    }

    let weights_differ = criteria.iter().any(|criterion| criterion.weight != criteria[0].weight);
    let all_silent =
        view.grader.marks.iter().all(|marks| marks.required.is_none() && marks.minimum.is_none());
    let first = view.grader.marks.first().and_then(|marks| marks.required.as_ref().or(marks.head.as_ref()));
    if let Some(span) = out.span(first) {
        let label = if weights_differ {
            "the weights can't change the verdict"
        } else if all_silent {
            "required by default, like all others"
        } else {
            "like all others"
        };
        let finding = Diagnostic::warning(
            RULE.code,
            format!("all {} criteria of this rubric are required", criteria.len()),
        )
        .at(span, label)
        .with_help("require only what an answer is useless without");
        let finding = if all_silent {
            finding.with_help("write `required: false` for criteria that should only count towards the score")
        } else {
            finding
        };
        finding.add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn one_optional_criterion_is_enough() {
        let all = super::RULE.bad.text();
        assert_eq!(in_criteria("L0202", all), ["required: true"]);
        assert!(in_criteria("L0202", &all.replacen(", required: true", "", 1)).is_empty());
        assert_eq!(in_criteria("L0202", "- a1\n- b1\n- c1\n- d1\n"), ["a1"], "plain texts are required");
        assert!(in_criteria("L0202", "- a1\n- b1\n- c1\n- {outcome: d1}\n").is_empty());
        assert!(
            in_criteria(
                "L0202",
                "- {outcome: a1, required: true, weight: 2}\n- {outcome: b1, required: true}\n"
            )
            .is_empty()
        );
    }
}
