//! Several runs of each case, as a file asks for them.

use assize_rubric::{RepeatStrategy, Usd};

/// `trials` of a suite or a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    /// How many runs, at least 1.
    pub count: u32,
    /// What they come to.
    pub strategy: RepeatStrategy,
    /// `early_stop`: whether no further run is begun after one that passed.
    pub early_stop: bool,
    /// `cost_limit_usd`: no further run of a case is begun once those before have cost this.
    pub cost_limit: Option<Usd>,
}

impl Default for Trials {
    /// One run.
    fn default() -> Self {
        Self { count: 1, strategy: RepeatStrategy::default(), early_stop: false, cost_limit: None }
    }
}
