//! L0210: a threshold of 0 without a gate.

use assize_model::{Grader, GraderKind};

use super::prelude::*;
use crate::view::written_threshold;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0210"),
    name: "zero-threshold",
    title: "The threshold is 0 and nothing is required, so the case can't fail.",
    reason: "Every score reaches a threshold of 0, even that of an answer that fails all checks. This holds in promptfoo's files too: there, a `threshold` on a test replaces the rule that each assertion must pass. Remove the threshold, raise it, or make a grader `required`.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    threshold: 0\n    assertions:\n      - {type: contains, value: Monday}\n      - {type: contains, value: depot}",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    threshold: 0.5\n    assertions:\n      - {type: contains, value: Monday}\n      - {type: contains, value: depot}",
    ),
    check: RuleCheck::Case(check),
};

fn check(view: &CaseView<'_>, out: &mut FindingCollector<'_>) {
    let Some((threshold, mark)) = written_threshold(Some(view.case), Some(view.suite)) else { return };
    let graders = &view.case.graders;
    if threshold != 0.0 || graders.is_empty() || graders.iter().any(|grader| has_gate(grader)) {
        return;
    }

    if let Some(span) = out.span(Some(mark)) {
        Diagnostic::warning(RULE.code, "no answer can fail")
            .at(span, "every score reaches 0")
            .with_help("remove the threshold, raise it, or make a grader `required`")
            .add_to(out);
    }
}

/// Returns true if the grader, or a member of it, can fail the case whatever the score is.
fn has_gate(grader: &Grader) -> bool {
    grader.weighting.required
        || match &grader.kind {
            GraderKind::Rubric(rubric) => rubric.rubric.criteria().iter().any(|one| one.gate.is_some()),
            GraderKind::Composite(composite) => composite.members.iter().any(|member| has_gate(member)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use crate::tests::{found, in_cases};

    #[test]
    fn a_threshold_of_zero_is_found_wherever_it_is_written() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_cases("L0210", bad), ["0"]);
        assert!(in_cases("L0210", &bad.replace("threshold: 0", "threshold: 0.01")).is_empty());
        assert!(in_cases("L0210", &bad.replace("    threshold: 0\n", "")).is_empty());
        assert!(in_cases("L0210", &bad.replace("Monday}", "Monday, required: true}")).is_empty());

        let of_suite = format!("threshold: 0\ntests:\n{}", bad.replace("    threshold: 0\n", ""));
        let report = found(&of_suite);
        assert!(report.iter().any(|(code, words)| code == "L0210" && words == "0"), "{report:?}");
    }

    #[test]
    fn promptfoos_tests_without_a_threshold_are_left_alone() {
        let file = |threshold: &str| {
            format!(
                "prompts: ['{{{{x}}}}']\nproviders: [echo]\ntests:\n  - vars: {{x: tea}}\n{threshold}    assert:\n      - \
                 {{type: contains, value: tea}}\n"
            )
        };
        let is_found = |text: &str| found(text).iter().any(|(code, _)| code == "L0210");
        assert!(!is_found(&file("")));
        assert!(is_found(&file("    threshold: 0\n")));
    }
}
