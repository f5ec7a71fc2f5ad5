//! The members of a composite and how they become one score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Combination, GraderStanding, Unit};

/// A composite: members and how they become one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CompositeRow")]
pub struct Composition {
    /// How members are combined.
    pub aggregator: Aggregator,
    /// The members, in order.
    pub members: Vec<Member>,
}

/// How members are combined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregator {
    /// Weighted mean of the members.
    WeightedAverage,
    /// The share of members that pass must reach this, 0 to 1.
    Threshold(Unit),
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
pub struct Member {
    /// Name, unique in its composite.
    pub name: String,
    /// Type, such as `contains`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its place in the composite.
    pub standing: GraderStanding,
}

impl Aggregator {
    /// The combination that follows; `decided` is the score that somebody gave after looking at the members.
    pub const fn combination(self, decided: Option<Unit>) -> Combination {
        match self {
            Self::WeightedAverage => Combination::WeightedAverage,
            Self::Threshold(line) => Combination::Threshold(line),
            Self::Lowest => Combination::Lowest,
            Self::Highest => Combination::Highest,
            Self::Decided => Combination::Decided(decided),
        }
    }
}
