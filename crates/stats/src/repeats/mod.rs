//! Repeated trials of a case: pass@k of a system, stability of a judge.

mod lower;
mod pass_k;
mod stability;
mod variance;

pub use lower::lower_mean;
pub use pass_k::{MeanPassK, PassK, mean_pass_k, pass_k};
pub use stability::{Stability, disagreement, stability};
pub use variance::{Nested, Repeated, nested, repeated};
