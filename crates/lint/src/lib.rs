//! Finds weaknesses in valid rubrics.
//!
//! [`RULES`] lists every rule with its reason and examples; [`lint_suite`] and [`lint_rubric`] apply them;
//! [`apply_fixes`] applies the fixes that keep the meaning. Some rules can only be applied by a model: a
//! [`ModelLint`] lists the questions ([`LintInquiry`]) and receives the answers ([`ModelFinding`]). The caller
//! asks the model.

#![warn(missing_docs)]

mod allow_comment;
mod dataset;
mod finding;
mod fix;
mod inquiry;
mod lint;
mod prompt_conditions;
mod rule;
mod rules;
mod sources;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub use fix::{LintFix, apply_fixes, collect_fixes};
pub use inquiry::{InquiryCriterion, LintInquiry, ModelFinding};
pub use lint::{
    LintReport, ModelLint, lint_loaded, lint_rubric, lint_rubric_for, lint_scorecard, lint_suite,
};
pub use rule::{LintRule, QuestionScope, RuleExample, RuleQuestion};
pub use rules::RULES;
