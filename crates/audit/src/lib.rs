//! Probing a judge: cases judged unchanged and changed, and what the change did to the decisions.
//!
//! [`variants_of`] makes the items of an audit out of one item of an ordinary run, [`compare`] pairs what was stored
//! about them, [`Tally`] counts the pairs. [`injection`] is one audit; others add a module beside it.

#![warn(missing_docs)]

mod altered;
mod decision;
pub mod injection;
mod name;
mod pair;
mod select;
mod tally;
mod variant;

pub use decision::Decision;
pub use name::UNCHANGED;
pub use pair::{Change, Compared, Pair, compare};
pub use select::choose;
pub use tally::{Rate, Tally};
pub use variant::{Alter, Variant, variants_of};
