//! L0601, asked of a model: two careful readers could decide differently about the same answer.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0601"),
    name: "ambiguous-criterion",
    title: "Two careful readers could decide differently on the same answer.",
    reason: "The noise of an ambiguous criterion looks like noise of the judge, but repeats do not reduce it: each judge settles on one reading. Name the fact, number or step that decides.",
    source: cited::CHECK_EVAL,
    bad: RuleExample::Criteria("- Mentions the last delivery"),
    good: RuleExample::Criteria("- Names the day of the delivery that failed"),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Criterion,
        text: "Is there an answer about which two careful readers of this criterion would decide differently, because its words can be read in two ways? Name both readings. Words that a subject uses with one settled meaning are not ambiguous.",
        found: "this can be read in two ways",
        help: "choose one reading: name the fact, number or step that decides",
    }),
};
