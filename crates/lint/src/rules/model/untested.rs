//! L0606, asked of a model: an important part of the expected outcome is tested by no criterion.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0606"),
    name: "untested-expectation",
    title: "An important part of the expected outcome is tested by no criterion.",
    reason: "An answer without it gets full marks. Add a criterion, or remove it from the expected outcome.",
    source: cited::RESEARCH_RUBRICS,
    bad: RuleExample::Case(
        "  - id: late-parcel\n    criteria: Apologizes and names the new delivery date\n    input: Where is my parcel?\n    assertions:\n      - Apologizes for the delay",
    ),
    good: RuleExample::Case(
        "  - id: late-parcel\n    criteria: Apologizes and names the new delivery date\n    input: Where is my parcel?\n    assertions:\n      - Apologizes for the delay\n      - Names the new delivery date",
    ),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Missing,
        text: "Does the expected outcome demand something important that no criterion tests, so that an answer without it could get full marks? Quote the words of the expected outcome as `quote`, and give null as `criterion`.",
        found: "no criterion tests this part of the expected outcome",
        help: "add a criterion, or remove it from the expected outcome",
    }),
};
