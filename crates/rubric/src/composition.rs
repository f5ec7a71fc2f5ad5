//! The members of a composite and how they become one score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CompositeFormula, GraderWeighting, UnitInterval};

/// A composite: members and how they become one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CompositeRow")]
pub struct CompositeStructure {
    /// Rule that combines the members.
    pub aggregator: MemberAggregator,
    /// The members, in order.
    pub members: Vec<CompositeMember>,
}

/// Rule that combines the members of a composite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Aggregator")]
pub enum MemberAggregator {
    /// Weighted mean of the members.
    WeightedAverage,
    /// The share of members that pass must reach this, 0 to 1.
    Threshold(UnitInterval),
    /// The lowest score of a member.
    Lowest,
    /// The highest score of a member.
    Highest,
    /// A program or a judge gave the score that stands in the row.
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
    /// Its place in the composite.
    pub standing: GraderWeighting,
}

impl MemberAggregator {
    /// The combination that follows; `decided` is the score that somebody gave after looking at the members.
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
