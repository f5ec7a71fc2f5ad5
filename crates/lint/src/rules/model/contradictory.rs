//! L0607, asked of a model: no answer can meet two of the criteria.

use assize_diagnostic::Code;

use crate::rule::{Check, Example, Question, Rule, Scope};
use crate::rules::cited;

pub(in crate::rules) const RULE: Rule = Rule {
    code: Code::new("L0607"),
    name: "contradictory-criteria",
    title: "No answer can meet two of the criteria.",
    reason: "Every answer loses the points of one of them, and if both are required none passes.",
    source: cited::ARITHMETIC,
    bad: Example::Criteria("- Names the new delivery date\n- Gives no dates"),
    good: Example::Criteria("- Names the new delivery date\n- Gives no other dates"),
    fixes: false,
    check: Check::Model(Question {
        scope: Scope::Pair,
        text: "Are there two criteria that no single answer can both meet? A criterion with a negative weight describes a mistake; it does not contradict the criterion that forbids the same mistake. Give one as `criterion` and the other as `other`.",
        found: "no answer can meet this and another criterion",
        help: "decide which of them is meant, or make them penalties",
    }),
};
