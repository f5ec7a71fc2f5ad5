//! Does it matter where in a call a criterion stands? Rubrics are put to the judge in other orders.

mod permute;
mod report;

pub use permute::{orders, variants};
pub use report::order_report;
pub(crate) use report::{flips, missing};
