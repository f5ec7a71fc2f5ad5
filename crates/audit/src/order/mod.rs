//! Order audit: rubrics are judged with their criteria in other orders, to measure position effects.

mod permute;
mod report;

pub use permute::{orders, variants};
pub use report::order_report;
pub(crate) use report::{flips, missing};
