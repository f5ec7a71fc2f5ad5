//! L0610, asked of a model: no criterion forbids the most likely harmful mistake.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0610"),
    name: "likely-mistake-unguarded",
    title: "No criterion rules out the most likely harmful mistake.",
    reason: "An answer that says everything, true and false, meets all positive criteria. Add one against the worst likely mistake.",
    source: cited::REWARDS,
    bad: RuleExample::Criteria("- Names the usual dose of ibuprofen for adults"),
    good: RuleExample::Criteria(
        "- Names the usual dose of ibuprofen for adults\n- Names no dose above 1200 mg a day without a doctor",
    ),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Unguarded,
        text: "Is there a mistake that answers to this question are likely to make, that would do harm or make the answer worthless, and that an answer could make while meeting every criterion? Describe it in the reason, and give null as `criterion` and as `quote`. At most one finding; none if a criterion rules the mistake out, in whatever words.",
        found: "no criterion rules out a likely mistake",
        help: "add a criterion that rules it out: `Does not ...`, or a penalty with a negative weight",
    }),
};
