//! Scorecards: their trees as they are recorded, and what results and labels come to.

mod info;
mod tallies;

pub use info::card_info;
pub use tallies::{CardTallies, card_tallies};
