//! Length audit: makes answers longer and shorter without changing their content, to measure length bias.

mod edit;
mod report;

pub use edit::{LengthEdit, length_edits, length_variants};
pub use report::{LengthFacts, length_report};
