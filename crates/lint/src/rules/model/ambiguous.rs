//! L0601, asked of a model: two careful readers could decide differently about the same answer.

use assize_diagnostic::Code;

use crate::rule::{Check, Example, Question, Rule, Scope};
use crate::rules::cited;

pub(in crate::rules) const RULE: Rule = Rule {
    code: Code::new("L0601"),
    name: "ambiguous-criterion",
    title: "Two careful readers could decide differently about the same answer.",
    reason: "The noise of an ambiguous criterion looks like noise of the judge, and asking again does not average it away: each judge settles for a reading of its own. Name the fact, number or step that decides.",
    source: cited::CHECK_EVAL,
    bad: Example::Criteria("- Mentions the last delivery"),
    good: Example::Criteria("- Names the day of the delivery that failed"),
    fixes: false,
    check: Check::Model(Question {
        scope: Scope::Criterion,
        text: "Is there an answer about which two careful readers of this criterion would decide differently, because its words can be read in two ways? Name both readings. Words that a subject uses with one settled meaning are not ambiguous.",
        found: "this can be read in two ways",
        help: "say which reading counts: name the fact, number or step that decides",
    }),
};
