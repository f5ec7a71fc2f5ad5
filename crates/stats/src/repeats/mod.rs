//! Repeated trials of a case: pass@k of a system, and stability of a judge.

mod crossed;
mod lower_bound;
mod pass_k;
mod stability;
mod variance;

pub use crossed::{CrossedDesign, CrossedVariance, crossed_variance};
pub use lower_bound::{mean_lower_bound, ones_for_lower_bound};
pub use pass_k::{MeanPassK, PassK, mean_pass_k, pass_k};
pub use stability::{VerdictStability, disagreement, stability};
pub use variance::{NestedVariance, RepeatVariance, nested_variance, repeat_variance};
