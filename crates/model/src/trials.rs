//! Trials of a case.

use assize_rubric::{TrialStrategy, Usd};

/// Settings of `trials` of a suite or a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    /// Number of trials, at least 1.
    pub count: u32,
    /// Aggregation of their results.
    pub strategy: TrialStrategy,
    /// True if no further trial is started after one that passed (`early_stop`).
    pub early_stop: bool,
    /// Cost of a case's trials at which no further trial is started (`cost_limit_usd`).
    pub cost_limit: Option<Usd>,
}

impl Default for Trials {
    /// Returns the settings of a single trial.
    fn default() -> Self {
        Self { count: 1, strategy: TrialStrategy::default(), early_stop: false, cost_limit: None }
    }
}
