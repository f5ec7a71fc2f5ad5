//! Scorecards: trees of rubrics over benchmarks, with gates that block every level above them.

mod card;
mod gain;
mod normalise;
mod score;
mod tally;

pub use card::{Card, CardError, CardKind, CardNode, Criticality, NodeId};
pub use gain::{Contribution, Gain};
pub use normalise::{Normalisation, NormaliseError};
pub use score::{CardScores, NodeScore, Standing, score_card};
pub use tally::{CaseTally, MissingPolicy};
