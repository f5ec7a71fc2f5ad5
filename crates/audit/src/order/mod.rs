//! Order audit: rubrics are judged with their criteria in other orders, to measure position bias.

mod exchange;
mod permute;
mod place;
mod reordered;
mod report;

pub use permute::{draw_orders, order_variants};
pub use reordered::{OrderedJudgement, PlacedDecision, ReorderedRubric};
pub use report::order_report;
pub(crate) use report::{decision_flips, describe_missing};
