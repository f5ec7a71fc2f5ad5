//! L0602, asked of a model: the criterion can't be decided from the question, the reference and the answer.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0602"),
    name: "not-in-the-answer",
    title: "The criterion can't be decided from the question, the reference and the answer.",
    reason: "A judge without the necessary material relies on the claims of the answer. Add the material to the case, or ask for what the answer shows.",
    source: "Agent-as-a-Judge (arXiv:2410.10934): judges that can look at what was done agree better with people than judges that only read the answer",
    bad: RuleExample::Criteria("- Was written without looking at the price list"),
    good: RuleExample::Criteria("- Offers the customer a new delivery date"),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Criterion,
        text: "Does deciding this criterion need something that is neither in the question, nor in the expected outcome, nor in the reference, nor in an answer itself, nor general knowledge: how the answer came about, what its reader later did or felt, a file or a source that is not shown? Name what is missing.",
        found: "a judge can't see this",
        help: "add the material to the case, or ask for what the answer itself shows",
    }),
};
