//! Do judges prefer answers of their own family of models? Judges of several families judge the answers of several
//! targets.

mod facts;
mod report;

pub use facts::{Families, SelfFacts};
pub use report::self_report;
