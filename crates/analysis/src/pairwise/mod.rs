//! Pairwise comparisons in both orders: win rates, position bias and ranking.

mod contests;
mod place;
mod ranking;
mod report;
mod summary;

pub use contests::{Contest, Contests};
pub use place::{PlaceReport, place};
pub use ranking::{Ranked, Ranking};
pub use report::{PairReport, PairwiseReport, Told, report};
pub(crate) use summary::{stored, summary};
