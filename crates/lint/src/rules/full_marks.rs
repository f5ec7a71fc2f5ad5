//! L0208: a threshold that only a perfect answer reaches.

use super::prelude::*;

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0208"),
    name: "full-marks-only",
    title: "The threshold is 1, so every optional criterion is in effect required.",
    reason: "With a threshold of 1 a single missed point fails the case: weights and `required: false` mean nothing, and a score range needs 10 of 10. Judges give full marks on a range rarely, so such a threshold is rarely reached.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    threshold: 1\n    assertions:\n      - type: rubrics\n        criteria:\n          - {outcome: Names the carrier, required: true}\n          - {outcome: Names the date, required: false}",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    input: Where is my parcel?\n    threshold: 0.5\n    assertions:\n      - type: rubrics\n        criteria:\n          - {outcome: Names the carrier, required: true, weight: 0.5}\n          - {outcome: Names the date, required: false}",
    ),
    check: RuleCheck::Rubric(check),
};

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let Some((_, mark)) = view.threshold().filter(|(line, _)| *line == 1.0) else { return };
    let named = view.criteria().find(|criterion| {
        let optional = criterion.criterion().gate.is_none() && criterion.weight() > 0.0;
        let is_explicit = criterion.marks().is_some_and(|marks| marks.required.is_some());
        optional && (is_explicit || criterion.bands().is_some())
    });
    let Some(criterion) = named else { return };
    let banded = criterion.bands().is_some();
    let Some(span) = out.span(Some(mark)) else { return };
    let mut diagnostic = Diagnostic::warning(RULE.code, "only full marks reach this threshold")
        .at(span, "every criterion must be met")
        .with_help("lower the threshold to the score of a good answer");
    if let Some(span) = out.span(criterion.head()) {
        let label = if banded { "needs 10 of 10" } else { "optional, but it must be met" };
        diagnostic = diagnostic.with_secondary(span, label);
    }

    diagnostic.add_to(out);
}

#[cfg(test)]
mod tests {
    use crate::tests::in_cases;

    #[test]
    fn full_marks_with_something_optional_are_found() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_cases("L0208", bad), ["1"]);
        assert!(in_cases("L0208", &bad.replace("threshold: 1", "threshold: 0.99")).is_empty());
        assert!(in_cases("L0208", &bad.replace("required: false", "required: true")).is_empty());
        let banded = bad.replace(
            "{outcome: Names the date, required: false}",
            "{id: d1, score_ranges: {0: Late, 6: Soon}}",
        );
        assert_eq!(in_cases("L0208", &banded), ["1"]);
    }
}
