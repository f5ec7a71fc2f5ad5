//! L0701: the threshold of the gate is 0, so it can never fail.

use assize_model::Scorecard;
use assize_rubric::Criticality;

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0701"),
    name: "scorecard-gate-never-fails",
    title: "The threshold of the gate is 0, so it can never fail.",
    reason: "Every score reaches 0, so the gate has no effect. Raise the threshold, or make the benchmark an improvement signal.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.6\n        threshold: 0.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    good: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.6\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    check: RuleCheck::Scorecard(check),
};

fn check(card: &Scorecard, out: &mut FindingCollector<'_>) {
    let benchmarks = card
        .benchmarks
        .iter()
        .filter(|benchmark| benchmark.criticality != Criticality::ImprovementSignal)
        .map(|benchmark| (benchmark.threshold, &benchmark.marks));

    let rubrics = card.rubrics.iter().map(|rubric| (rubric.threshold, &rubric.marks));
    for (threshold, marks) in benchmarks.chain(rubrics) {
        if threshold.get() > 0.0 {
            continue;
        }
        if let Some(span) = out.span(marks.threshold.as_ref()) {
            Diagnostic::warning(RULE.code, "this gate can never fail")
                .at(span, "every score reaches 0")
                .with_help(
                    "raise the threshold; a benchmark that only informs has `criticality: \
                     improvement_signal`",
                )
                .add_to(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_card;

    #[test]
    fn a_signal_may_have_any_line() {
        let text = super::RULE.bad.text();
        assert_eq!(in_card("L0701", text), ["threshold: 0.0"]);
        assert!(in_card("L0701", &text.replace("hard_gate", "improvement_signal")).is_empty());
        assert_eq!(
            in_card("L0701", &text.replace("passing_threshold: 0.8", "passing_threshold: 0")).len(),
            2
        );
    }
}
