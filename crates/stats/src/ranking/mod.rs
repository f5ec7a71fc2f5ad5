//! Ranking several systems by pairwise contests.

mod bradley_terry;
mod connectivity;

pub use bradley_terry::{
    BradleyTerryFit, ContestOutcome, StrengthLead, SystemContest, SystemStrength, TieRule, bradley_terry,
};
