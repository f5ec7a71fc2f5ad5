//! L0404: a long rubric without a criterion that forbids something.

use assize_rubric::CriterionOperator;

use super::prelude::*;
use crate::words::{is_negation, split_words};

pub(super) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0404"),
    name: "nothing-forbidden",
    title: "A rubric of eight or more criteria has no negative criterion.",
    reason: "An answer that says everything, true and false, meets all positive criteria. Add one against the worst mistake (a made-up fact, an unauthorised promise, dangerous advice).",
    source: cited::REWARDS,
    bad: RuleExample::Criteria(
        "- Names the cause\n- Gives the date\n- Offers help\n- Names the carrier\n- Thanks the customer\n- Gives a telephone number\n- Names the depot\n- Mentions the voucher",
    ),
    good: RuleExample::Criteria(
        "- Names the cause\n- Gives the date\n- Offers help\n- Names the carrier\n- Thanks the customer\n- Gives a telephone number\n- Names the depot\n- {outcome: Does not promise a refund, required: false}",
    ),
    check: RuleCheck::Rubric(check),
};

const MIN_CRITERIA: usize = 8;
const FORBIDDING_WORDS: &[&str] =
    &["only", "nothing", "free", "exactly", "refuses", "declines", "instead", "rejects", "limited", "most"];

fn check(view: &RubricView<'_>, out: &mut FindingCollector<'_>) {
    let criteria = view.rubric().criteria();

    // If there is another grader, it may do the forbidding.
    if criteria.len() < MIN_CRITERIA || !view.alone {
        return;
    }

    let forbids = criteria.iter().any(|criterion| {
        let words = split_words(&criterion.text);
        criterion.weight.get() < 0.0
            || criterion.operator == CriterionOperator::Contradiction
            || words.iter().any(|w| is_negation(&w.text) || FORBIDDING_WORDS.contains(&w.text.as_str()))
            || view.criteria().any(|c| c.bands().is_some())
    });
    if forbids {
        return;
    }

    if let Some(span) = out.span(view.grader.marks.first().and_then(|marks| marks.head.as_ref())) {
        Diagnostic::warning(RULE.code, format!("none of these {} criteria is negative", criteria.len()))
            .at(span, "the first of them")
            .with_help("add a negative criterion: `Does not ...`, or a penalty with a negative weight")
            .add_to(out);
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::in_criteria;

    #[test]
    fn one_prohibition_is_enough() {
        let bad = super::RULE.bad.text();
        assert_eq!(in_criteria("L0404", bad).len(), 1);
        for forbids in ["Avoids jargon", "Names only the cause", "{outcome: Blames somebody, weight: -1}"] {
            assert!(in_criteria("L0404", &bad.replace("Names the cause", forbids)).is_empty(), "{forbids}");
        }
        assert!(in_criteria("L0404", &bad.replace("- Mentions the voucher", "")).is_empty(), "short");
    }
}
