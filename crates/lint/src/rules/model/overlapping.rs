//! L0604, asked of a model: two criteria are decided by the same part of an answer.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0604"),
    name: "overlapping-criteria",
    title: "Two criteria are decided by the same part of an answer.",
    reason: "What two criteria share counts twice. The rule `repeated-criterion` compares words; a model compares what is asked for.",
    source: cited::ONE_AT_A_TIME,
    bad: RuleExample::Criteria(
        "- Names the day of the new delivery\n- Tells the customer when the parcel will come",
    ),
    good: RuleExample::Criteria("- Names the day of the new delivery\n- Says where the parcel is now"),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Pair,
        text: "Are there two criteria of which the second is met by nearly every answer that meets the first, because both look at the same thing in other words? Give the first as `criterion` and the second as `other`.",
        found: "this criterion overlaps another",
        help: "merge them, or name what each alone checks",
    }),
};
