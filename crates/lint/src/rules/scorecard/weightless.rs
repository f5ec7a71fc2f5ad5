//! L0704: a benchmark that has weight 0 and does not block.

use assize_model::Scorecard;
use assize_rubric::{Criticality, ScorecardAggregation};

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0704"),
    name: "scorecard-counts-for-nothing",
    title: "The benchmark has weight 0 and blocks nothing.",
    reason: "It is judged and paid for, but no outcome changes the score. Give it a weight, or make it an improvement signal.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.6\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV3\n        concept: Share of answers that name it.\n        weight: 0\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    good: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.6\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV3\n        concept: Share of answers that name it.\n        weight: 0\n        threshold: 0.9\n        criticality: improvement_signal\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    check: RuleCheck::Scorecard(check),
};

fn check(card: &Scorecard, out: &mut FindingCollector<'_>) {
    for benchmark in &card.benchmarks {
        // With minimum or maximum as aggregation, weights have no effect.
        let averaged = card
            .rubrics
            .get(benchmark.parent)
            .is_some_and(|rubric| rubric.aggregation == ScorecardAggregation::WeightedAverage);
        if benchmark.weight.get() != 0.0 || benchmark.criticality != Criticality::ThresholdGate || !averaged {
            continue;
        }

        if let Some(span) = out.span(benchmark.marks.weight.as_ref()) {
            Diagnostic::warning(RULE.code, "this benchmark has no effect")
                .at(span, "no weight and no hard gate")
                .with_help("give it a weight, or write `criticality: improvement_signal`")
                .add_to(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_card;

    #[test]
    fn gates_and_signals_need_no_weight() {
        let text = super::RULE.bad.text();
        assert_eq!(in_card("L0704", text), ["weight: 0"]);
        assert!(in_card("L0704", &text.replace("threshold_gate", "hard_gate")).is_empty());
        assert!(in_card("L0704", &text.replace("WEIGHTED_AVERAGE", "MAXIMUM")).is_empty());
    }
}
