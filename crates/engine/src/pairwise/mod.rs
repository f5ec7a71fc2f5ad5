//! Compares answers two at a time, case by case, in both orders.

mod execute;
mod mode;
mod system;

pub use execute::{PairwiseInput, PairwiseOptions};
pub use mode::{PairwiseRun, conclusion, stored_pairwise_report};
