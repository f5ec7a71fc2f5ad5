//! Probing a judge: cases judged unchanged and changed, and what the change did to the decisions.
//!
//! [`variants_of`] makes the items of an audit out of one item of an ordinary run, [`compare`] pairs what was stored
//! about them, [`Tally`] counts the pairs. [`injection`] and its
//! neighbours are one audit each.

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
