//! Scorecards of a run: their stored trees and the tallies of their results.

mod info;
mod tallies;

pub use info::card_info;
pub use tallies::{CardTallies, card_tallies};
