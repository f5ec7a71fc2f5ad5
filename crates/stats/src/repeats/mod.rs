//! The same case again and again: attempts of a system, and verdicts of a judge.

mod lower;
mod pass_k;
mod stability;
mod variance;

pub use lower::lower_mean;
pub use pass_k::{MeanPassK, PassK, mean_pass_k, pass_k};
pub use stability::{Stability, disagreement, stability};
pub use variance::{Nested, Repeated, nested, repeated};
