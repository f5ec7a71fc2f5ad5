//! Order audit: rubrics are judged with their criteria in other orders, to measure position effects.

mod permute;
mod place;
mod report;

pub use permute::{draw_orders, order_variants};
pub use place::PlacedDecision;
pub use report::order_report;
pub(crate) use report::{decision_flips, describe_missing};
