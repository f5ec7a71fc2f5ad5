//! Pairwise comparisons in both orders: win rates, position bias and ranking.

mod matches;
mod position_bias;
mod ranking;
mod report;
mod summary;

pub use matches::{PairwiseMatch, PairwiseMatches};
pub use position_bias::{PositionBiasReport, measure_position_bias};
pub use ranking::{RankedTarget, TargetRanking};
pub use report::{PairConclusion, PairReport, PairwiseReport, pairwise_report};
pub(crate) use summary::{summarize_matches, to_stored_metric};
