//! Comparison of two runs, case by case: significant and inconclusive differences.

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

/// Options of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Confidence level of intervals; a test is significant if its p value is at most 1 minus this.
    pub level: Level,
    /// Largest irrelevant difference, 0 to 1.
    pub margin: Option<f64>,
    /// Metric of the overall conclusion.
    pub headline: Headline,
    /// Adjustment of p values that are reported together; `None` for no adjustment.
    pub adjustment: Option<Adjustment>,
    /// True to bootstrap intervals of score differences instead of using Student's t.
    pub bootstrap: bool,
    /// Seed of all random draws.
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
