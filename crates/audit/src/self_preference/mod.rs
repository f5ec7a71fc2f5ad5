//! Self-preference audit: judges of several families judge the answers of several targets. This measures how
//! much judges prefer answers of their own family.

mod facts;
mod report;

pub use facts::{ModelFamilies, SelfPreferenceFacts};
pub use report::self_preference_report;
