//! L0611, asked of a model: a required criterion is not worth failing an answer, or an optional one is.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0611"),
    name: "misplaced-gate",
    title: "A minor criterion is required, or an essential one is optional.",
    reason: "A gate fails an answer whatever else it does well. Use it only where an answer is worthless without it.",
    source: cited::GUIDE,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    criteria: Says when the parcel comes\n    input: When does my parcel come?\n    assertions:\n      - type: rubrics\n        criteria:\n          - {outcome: Names the new delivery date, weight: 2}\n          - {outcome: Greets the customer by name, required: true}",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    criteria: Says when the parcel comes\n    input: When does my parcel come?\n    assertions:\n      - type: rubrics\n        criteria:\n          - {outcome: Names the new delivery date, weight: 2, required: true}\n          - {outcome: Greets the customer by name, weight: 0.5}",
    ),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Outcome,
        text: "Going by the question and the expected outcome: is this criterion marked as required although an answer that misses it would still be useful, or is it optional although an answer that misses it is worthless or dangerous? Only where you are sure.",
        found: "the gate does not match the expectations of the case",
        help: "require only what an answer is useless without, and weigh the rest",
    }),
};
