//! L0607, asked of a model: no answer can meet two of the criteria.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0607"),
    name: "contradictory-criteria",
    title: "No answer can meet two of the criteria.",
    reason: "Every answer loses the points of one of them, and if both are required none passes.",
    source: cited::ARITHMETIC,
    bad: RuleExample::Criteria("- Names the new delivery date\n- Gives no dates"),
    good: RuleExample::Criteria("- Names the new delivery date\n- Gives no other dates"),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Pair,
        text: "Are there two criteria that no single answer can both meet? A criterion with a negative weight describes a mistake; it does not contradict the criterion that forbids the same mistake. Give one as `criterion` and the other as `other`.",
        found: "no answer can meet this and another criterion",
        help: "decide which of them is meant, or make them penalties",
    }),
};
