//! L0403: too many criteria in one judge call.

use assize_rubric::JudgingMode;

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0403"),
    name: "too-many-in-one-call",
    title: "More than 20 criteria go into one judge call.",
    reason: "Criteria in one call influence each other, and one malformed reply loses all of them. Judge them one at a time, or set a batch size.",
    source: cited::AUTO_RUBRIC,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    assertions:\n      - type: rubrics\n        judging: batched\n        criteria: [Avoids A1, B2, C3, D4, E5, F6, G7, H8, I9, J10, K11, L12, M13, N14, O15, P16, Q17, R18, S19, T20, U21]",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    assertions:\n      - type: rubrics\n        judging: {batched: 7}\n        criteria: [Avoids A1, B2, C3, D4, E5, F6, G7, H8, I9, J10, K11, L12, M13, N14, O15, P16, Q17, R18, S19, T20, {outcome: U21, required: false}]",
    ),
    check: RuleCheck::Rubric(check),
};

const MAX_CRITERIA: usize = 20;

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let judging = view.grader.judging.or_else(|| view.suite.and_then(|suite| suite.settings.judging));
    let Some(JudgingMode::Batched(size)) = judging else { return };
    let count = view.rubric().criteria().len();
    let call = size.map_or(count, |size| size.get().min(count));
    if call <= MAX_CRITERIA {
        return;
    }

    if let Some(span) = out.span(view.grader.marks.first().and_then(|marks| marks.head.as_ref())) {
        Diagnostic::warning(RULE.code, format!("{call} criteria in one call"))
            .at(span, "the first of them")
            .with_help("write `judging: per-criterion`, or a batch size: `judging: {batched: 10}`")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_cases;

    #[test]
    fn only_large_calls_are_found() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_cases("L0403", bad), ["Avoids A1"]);
        assert!(in_cases("L0403", &bad.replace(", U21", "")).is_empty(), "20 are fine");
        assert!(
            in_cases("L0403", &bad.replace("        judging: batched\n", "")).is_empty(),
            "one at a time"
        );
    }
}
