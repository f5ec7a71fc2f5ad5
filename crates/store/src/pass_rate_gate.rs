//! Gate on the pass rate of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Required pass rate of a run and its result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PassRateGate {
    /// Minimum pass rate, 0 to 1.
    pub minimum: f64,
    /// Number of cases that passed.
    pub passed: usize,
    /// Number of planned cases.
    pub cases: usize,
    /// Number of planned cases without a verdict.
    pub without_verdict: usize,
    /// Result of the gate.
    pub result: PassRateResult,
}

/// Result of the required pass rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PassRateResult {
    /// The pass rate reaches the minimum, even if every case without a verdict failed.
    Met,
    /// The pass rate is below the minimum, even if every case without a verdict passed.
    Missed,
    /// The cases without a verdict could change the result, or there are no cases.
    Incomplete,
}
