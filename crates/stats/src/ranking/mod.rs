//! Ranking of several systems by pairwise contests.

mod bradley_terry;
mod connected;
mod symmetric;

pub use bradley_terry::{BradleyTerry, Contest, ContestEnd, Lead, Strength, TieRule, bradley_terry};
