//! The members of a composite and how they are combined into one score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CompositeFormula, GraderWeighting, UnitInterval};

/// Members of a composite and how they are combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CompositeRow")]
pub struct CompositeStructure {
    /// Rule that combines the members.
    pub aggregator: MemberAggregator,
    /// The members, in order.
    pub members: Vec<CompositeMember>,
    /// True if the function that combined them says that the answer passes, false if it says that it fails, whatever the
    /// score; absent if the score decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
}

/// Rule that combines the members of a composite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Aggregator")]
pub enum MemberAggregator {
    /// Weighted mean of the members.
    WeightedAverage,
    /// Minimum share of members that must pass, 0 to 1.
    Threshold(UnitInterval),
    /// Lowest score of the members.
    Lowest,
    /// Highest score of the members.
    Highest,
    /// A program or a judge combined the members; the row has its score.
    Decided,
}

/// A member of a composite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MemberRow")]
pub struct CompositeMember {
    /// Name, unique in its composite.
    pub name: String,
    /// Type, such as `contains`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Weight, gate and threshold of the member.
    #[serde(rename = "standing")]
    pub weighting: GraderWeighting,
}

impl MemberAggregator {
    /// Returns the formula with its parameters. `decided` is the score that a program or judge gave after
    /// reading the members.
    pub const fn combination(self, decided: Option<UnitInterval>) -> CompositeFormula {
        match self {
            Self::WeightedAverage => CompositeFormula::WeightedAverage,
            Self::Threshold(line) => CompositeFormula::Threshold(line),
            Self::Lowest => CompositeFormula::Lowest,
            Self::Highest => CompositeFormula::Highest,
            Self::Decided => CompositeFormula::Decided(decided),
        }
    }
}
