//! Two runs, case by case: what differs beyond chance, and what can't be told.

mod comparable;
mod contrast;
mod flips;
mod gates;
mod many;
mod pairing;
mod tables;

use assize_stats::{Level, multiplicity::Adjustment};

pub use comparable::{Mismatch, Respect};
pub use contrast::{Call, Contrast};
pub use flips::{CriterionFlip, Flip, Side};
pub use gates::{FailOn, GateResult, Gates, Hold, check};
pub use many::{Many, compare_many};
pub use pairing::{CaseName, Comparison, Headline, Undecided, compare};
pub use tables::{FEWEST_PAIRS, Row, Table};

/// What is compared how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Confidence level of intervals; a test shows a difference when its p is at most 1 less this.
    pub level: Level,
    /// Differences up to this size do not matter, 0 to 1.
    pub margin: Option<f64>,
    /// The figure that the verdict on the whole is about.
    pub headline: Headline,
    /// How p values that stand beside each other are adjusted; `None` leaves them as they are.
    pub adjustment: Option<Adjustment>,
    /// Whether intervals of score differences are resampled instead of Student's.
    pub bootstrap: bool,
    /// Seed of everything drawn at random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            level: Level::P95,
            margin: None,
            headline: Headline::Score,
            adjustment: Some(Adjustment::Holm),
            bootstrap: false,
            seed: 1,
        }
    }
}
