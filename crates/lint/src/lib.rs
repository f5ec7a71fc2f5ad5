//! Findings about rubrics that load and are still bad.
//!
//! [`RULES`] lists every rule with its reason and examples; [`lint_suite`] and [`lint_rubric`] apply
//! them; [`fixed`] carries out the changes that are sure.

#![warn(missing_docs)]

mod allow;
mod fix;
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
pub use lint::{Linted, lint_loaded, lint_rubric, lint_rubric_for, lint_suite};
pub use rule::{Example, Rule};
pub use rules::RULES;
