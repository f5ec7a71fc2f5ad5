//! What a grader that is no rubric decided, as stored in its row of `judgements.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BenchmarkRow, Standing};

/// The result of a grader as a whole. Rubrics have none: they have one row a criterion instead.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GraderResult {
    /// Score, 0 to 1, before negation; null when the grader broke, does not apply, or is worked out
    /// from its members.
    pub score: Option<f64>,
    /// What broke it. With neither a score nor an error nor members the grader does not apply.
    #[serde(default)]
    pub error: Option<String>,
    /// What was found, point by point.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Anything else a program said about its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// For a composite: its members and how they are combined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composite: Option<CompositeRow>,
    /// For a benchmark of a scorecard: what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<BenchmarkRow>,
}

/// One finding of a grader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// What was looked at.
    pub text: String,
    /// Whether it is as it should be; null for a remark.
    pub passed: Option<bool>,
    /// What was found.
    #[serde(default)]
    pub reason: String,
    /// How much it counts among the notes; null where notes do not make the score.
    #[serde(default)]
    pub weight: Option<f64>,
}

/// A composite: members and how they become one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompositeRow {
    /// How members are combined.
    pub aggregator: Aggregator,
    /// The members, in order.
    pub members: Vec<MemberRow>,
}

/// How members are combined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregator {
    /// Weighted mean of the members.
    WeightedAverage,
    /// The share of members that pass must reach this, 0 to 1.
    Threshold(assize_rubric::Unit),
    /// The lowest score of a member.
    Lowest,
    /// The highest score of a member.
    Highest,
    /// A program or a judge gave the score that stands in the row.
    Decided,
}

/// A member of a composite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberRow {
    /// Name, unique in its composite.
    pub name: String,
    /// Type, such as `contains`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its place in the composite.
    pub standing: Standing,
}
