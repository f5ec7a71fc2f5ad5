//! Audits of a judge: cases are judged unchanged and modified, and the decisions compared.
//!
//! [`variants_of`] builds the work items of an audit from one item of an ordinary run, [`compare`] pairs the
//! stored decisions, [`Tally`] counts the pairs. [`injection`], [`length`], [`order`] and [`self_preference`]
//! are one audit each.

#![warn(missing_docs)]

mod altered;
mod decision;
pub mod injection;
pub mod length;
mod name;
pub mod order;
mod pair;
mod report;
mod select;
pub mod self_preference;
mod tally;
mod variant;

pub use decision::Decision;
pub use name::UNCHANGED;
pub use pair::{Change, Compared, Pair, compare};
pub use report::{AuditReport, Section};
pub use select::choose;
pub use tally::{Rate, Tally};
pub use variant::{Alter, Regrade, Variant, variants_of};
