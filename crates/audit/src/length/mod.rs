//! Does the judge like long answers? Answers are made longer and shorter without a change to what they say.

mod edit;
mod report;

pub use edit::{Edit, edits, variants};
pub use report::{LengthFacts, length_report};
