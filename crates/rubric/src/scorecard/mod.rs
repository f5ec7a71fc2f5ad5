//! Scorecards: trees of rubrics over benchmarks, with gates that block every level above them.

mod gain;
mod normalise;
mod score;
mod tally;
mod tree;
mod weight_set;

pub use gain::{ScoreContribution, ScoreGain};
pub use normalise::{NormalisationError, NormalisationFormula};
pub use score::{DistinctCases, NodeScore, NodeStatus, ScorecardScores, score_card};
pub use tally::{CaseTally, MissingPolicy};
pub use tree::{Criticality, ScoreTree, ScoreTreeError, ScorecardNode, ScorecardNodeId, ScorecardNodeKind};
pub use weight_set::{WeightSetError, find_weight_set};
