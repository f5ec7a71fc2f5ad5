//! L0703: one part of a rubric weighs at least twice as much as all others together.

use assize_model::{RubricChildren, Scorecard, ScorecardMarks};
use assize_rubric::{ScorecardAggregation, at_least};

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0703"),
    name: "scorecard-dominant-weight",
    title: "One node of a rubric weighs at least twice as much as all others together.",
    reason: "The score of the rubric is then nearly that of this node. If it is essential, make it a hard gate, and let the weights rank the rest.",
    source: cited::GUIDE,
    bad: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.8\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.1\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV3\n        concept: Share of answers that name it.\n        weight: 0.1\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    good: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.3\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV3\n        concept: Share of answers that name it.\n        weight: 0.3\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    check: RuleCheck::Scorecard(check),
};

fn check(card: &Scorecard, out: &mut FindingCollector<'_>) {
    for rubric in
        card.rubrics.iter().filter(|rubric| rubric.aggregation == ScorecardAggregation::WeightedAverage)
    {
        let parts: Vec<(f64, &ScorecardMarks)> = match &rubric.parts {
            RubricChildren::Benchmarks(parts) => {
                let part =
                    |part: &usize| (card.benchmarks[*part].weight.get(), &card.benchmarks[*part].marks);
                parts.iter().map(part).collect()
            }
            RubricChildren::Rubrics(parts) => {
                let part = |part: &usize| (card.rubrics[*part].weight.get(), &card.rubrics[*part].marks);
                parts.iter().map(part).collect()
            }
        };

        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        for (weight, marks) in parts.iter().filter(|_| parts.len() > 2) {
            if *weight <= 0.0 || !at_least(*weight, 2.0 * (total - weight)) {
                continue;
            }
            if let Some(span) = out.span(marks.weight.as_ref()) {
                Diagnostic::warning(RULE.code, format!("one node decides the score of `{}`", rubric.code))
                    .at(span, format!("{:.0}% of the weight", 100.0 * weight / total))
                    .with_help("lower the weight; if it is essential, make it a hard gate")
                    .add_to(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_card;

    #[test]
    fn only_averages_of_three_or_more_have_a_dominant_part() {
        let text = super::RULE.bad.text();
        assert_eq!(in_card("L0703", text), ["weight: 0.8"]);
        assert!(in_card("L0703", &text.replace("WEIGHTED_AVERAGE", "MINIMUM")).is_empty());
        assert!(in_card("L0703", &text.replace("weight: 0.8", "weight: 0.35")).is_empty());
    }
}
