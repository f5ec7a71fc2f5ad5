//! Findings about rubrics that are valid and still bad.
//!
//! [`RULES`] lists every rule with its reason and examples; [`lint_suite`] and [`lint_rubric`] apply them;
//! [`fixed`] applies the fixes that keep the meaning. Some rules only a model can apply: a [`Linting`] lists
//! the questions ([`Inquiry`]) and takes the answers ([`Remark`]); the caller asks the model.

#![warn(missing_docs)]

mod allow;
mod conditions;
mod fix;
mod inquiry;
mod lint;
mod report;
mod rule;
mod rules;
mod sources;
#[cfg(test)]
mod testing;
mod view;
mod words;

pub use fix::{Fix, fixed, fixes};
pub use inquiry::{Asked, Inquiry, Remark};
pub use lint::{Linted, Linting, lint_loaded, lint_rubric, lint_rubric_for, lint_scorecard, lint_suite};
pub use rule::{Example, Question, Rule, Scope};
pub use rules::RULES;
