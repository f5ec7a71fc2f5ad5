//! What became of two answers that were compared in both orders.

use assize_rubric::{PairOutcome, Preference};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A comparison of the answer of the case, the candidate, with another one, the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairwiseRow {
    /// How the candidate fares; null where an order could not be judged.
    pub outcome: Option<PairOutcome>,
    /// Where the baseline comes from: `reference`, `text`, or `run NAME`.
    pub baseline: String,
    /// What was decided with the candidate shown first.
    pub candidate_first: OrderRow,
    /// What was decided with the baseline shown first.
    pub baseline_first: OrderRow,
}

/// What was decided in one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OrderRow {
    /// The answer that was found better, by its place; null where it could not be judged.
    pub preference: Option<Preference>,
    /// The judge's reason; else why there is no decision.
    pub reason: String,
}
