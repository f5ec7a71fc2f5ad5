//! L0608, asked of a model: the texts of the score ranges do not tell one answer from a better one.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0608"),
    name: "unclear-ranges",
    title: "The texts of the score ranges do not distinguish good from better answers.",
    reason: "If two ranges fit the same answer, the choice is arbitrary. If a range asks for something different from the range below it, two scales are mixed.",
    source: cited::PROMETHEUS,
    bad: RuleExample::Criteria(
        "- outcome: Names the date\n  score_ranges:\n    0: Gives a vague date\n    5: Gives an imprecise date in a friendly tone\n    8: Gives the day and the hour",
    ),
    good: RuleExample::Criteria(
        "- outcome: Names the date\n  score_ranges:\n    0: Gives no date\n    5: Gives the week\n    8: Gives the day",
    ),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Bands,
        text: "Do two ranges of this criterion fit the same answer, or does a higher range ask for something of another kind than the ranges below it, so that the texts are not steps of one scale? Quote words of one of the ranges.",
        found: "these ranges are not steps of one scale",
        help: "in each text, name what is added to the range below it, in things that can be counted or seen",
    }),
};
