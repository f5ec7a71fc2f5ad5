//! L0609, asked of a model: an answer can meet the criterion without being any better for it.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0609"),
    name: "met-by-a-bad-answer",
    title: "An answer can meet the criterion without being any better for it.",
    reason: "Systems learn what is rewarded: a keyword, a disclaimer, a list, a longer text. Ask for the purpose of the words.",
    source: cited::LLM_BAR,
    bad: RuleExample::Criteria("- Uses the word \"refund\""),
    good: RuleExample::Criteria("- States that the refund arrives within 14 days"),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Criterion,
        text: "Could an answer that is useless or wrong for this question meet this criterion by its looks alone: by its length, its layout, a keyword without the fact, a set phrase? Describe that answer. Not if the question or the expected outcome asks for just that layout, length or phrase.",
        found: "an answer can meet this by form alone",
        help: "ask for the content behind the form",
    }),
};
