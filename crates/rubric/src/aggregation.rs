//! Formulas that compute the score of a scorecard's node from its children's scores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule that aggregates the scores of children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "Aggregation")]
pub enum ScorecardAggregation {
    /// `sum(w s) / sum(w)`.
    #[default]
    WeightedAverage,
    /// The lowest score.
    Minimum,
    /// The highest score.
    Maximum,
}
