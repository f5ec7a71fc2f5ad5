//! Self-preference audit: judges of several families judge the answers of several targets, to measure a
//! preference for their own family.

mod facts;
mod report;

pub use facts::{ModelFamilies, SelfPreferenceFacts};
pub use report::self_preference_report;
