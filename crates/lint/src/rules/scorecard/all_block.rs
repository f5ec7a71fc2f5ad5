//! L0702: every benchmark of the rubric is a hard gate, so its weights and threshold have no effect.

use assize_model::{RubricChildren, Scorecard};
use assize_rubric::Criticality;

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0702"),
    name: "scorecard-everything-blocks",
    title: "Every benchmark of the rubric is a hard gate, so its weights and threshold have no effect.",
    reason: "One failure blocks the rubric whatever the score is. Use hard gates only for failures that make an answer unusable, and the threshold for the rest.",
    source: cited::GUIDE,
    bad: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.6\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 0.9\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    good: RuleExample::Scorecard(
        "rubrics:\n  - code: A-DLV\n    label: Delivery\n    weight: 1.0\n    aggregation_method: WEIGHTED_AVERAGE\n    passing_threshold: 0.8\n    benchmarks:\n      - code: A-DLV1\n        concept: Share of answers that name it.\n        weight: 0.6\n        threshold: 1.0\n        criticality: hard_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n      - code: A-DLV2\n        concept: Share of answers that name it.\n        weight: 0.4\n        threshold: 0.9\n        criticality: threshold_gate\n        evaluator_type: manual_sme\n        inclusion_criteria: Apply when a parcel is late. Flag if the day is missing.\n",
    ),
    check: RuleCheck::Scorecard(check),
};

fn check(card: &Scorecard, out: &mut FindingCollector<'_>) {
    for rubric in &card.rubrics {
        let RubricChildren::Benchmarks(parts) = &rubric.parts else { continue };
        let all = parts.iter().all(|part| card.benchmarks[*part].criticality == Criticality::HardGate);

        // If a rubric has a single benchmark, no other one could decide.
        if parts.len() < 2 || !all {
            continue;
        }

        if let Some(span) = out.span(Some(&rubric.marks.code)) {
            Diagnostic::warning(
                RULE.code,
                format!("all {} benchmarks of this rubric are hard gates", parts.len()),
            )
            .at(span, "its weights have no effect")
            .with_help("keep `hard_gate` where a single failure makes the answer unusable")
            .add_to(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_card;

    #[test]
    fn one_that_does_not_block_is_enough() {
        let text = super::RULE.bad.text();
        assert_eq!(in_card("L0702", text), ["A-DLV"]);
        assert!(in_card("L0702", &text.replacen("hard_gate", "threshold_gate", 1)).is_empty());
    }
}
