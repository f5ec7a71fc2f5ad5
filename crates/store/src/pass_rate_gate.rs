//! Gate on the pass rate of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pass rate that a run must reach, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassRateGate {
    /// Share of cases that must pass, 0 to 1.
    pub minimum: f64,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that were to be run.
    pub cases: usize,
    /// Cases among them without a verdict.
    pub without_verdict: usize,
    /// Result of the gate.
    pub result: PassRateResult,
}

/// Result of a gate on the pass rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PassRateResult {
    /// The rate reaches the minimum, even if no case without a verdict passes.
    Met,
    /// The rate is below the minimum, even if every case without a verdict passes.
    Missed,
    /// The cases without a verdict could change the result, or there are no cases.
    Incomplete,
}
