//! L0603, asked of a model: one criterion makes several demands that can be met apart from each other.

use crate::rules::prelude::*;

pub(in crate::rules) const RULE: LintRule = LintRule {
    code: DiagnosticCode::new("L0603"),
    name: "several-demands",
    title: "One criterion makes several independent demands.",
    reason: "The rule `several-things` knows the usual joining words; a model sees demands that are joined in other ways. An answer that meets half of them is neither met nor unmet.",
    source: cited::AUTO_RUBRIC,
    bad: RuleExample::Criteria("- Explains the delay, offering a voucher that covers the postage"),
    good: RuleExample::Criteria("- Explains the delay\n- Offers a voucher that covers the postage"),
    check: RuleCheck::Model(RuleQuestion {
        scope: QuestionScope::Criterion,
        text: "Does this criterion make two or more demands of which an answer could meet one and miss another? Name the demands. One fact that has several parts, such as a date with its year or an amount with its currency, is a single demand.",
        found: "this asks for several things",
        help: "write one criterion for each demand",
    }),
};
