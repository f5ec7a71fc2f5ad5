//! Scorecards of a run: their stored trees and the tallies of their results.

mod info;
mod tallies;

pub use info::describe_scorecard;
pub use tallies::{ScorecardTallies, card_tallies};
