//! Findings about rubrics that load and are still bad.
//!
//! [`RULES`] lists every rule with its reason and examples; [`lint_suite`] and [`lint_rubric`] apply
//! them; [`fixed`] carries out the changes that are sure. Some rules only a model can apply: a [`Linting`] says what is
//! to be asked ([`Inquiry`]) and takes what was found ([`Remark`]); asking is left to others.

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
