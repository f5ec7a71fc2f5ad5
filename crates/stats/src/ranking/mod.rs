//! Several systems put in order by contests between two at a time.

mod bradley_terry;
mod connected;
mod symmetric;

pub use bradley_terry::{BradleyTerry, Contest, ContestEnd, Lead, Strength, TieRule, bradley_terry};
