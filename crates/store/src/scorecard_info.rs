//! The tree of a scorecard as it was run, stored in `run.json`.

use std::num::NonZeroU32;

use assize_rubric::{Criticality, ScorecardAggregation, UnitInterval, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scorecard as it was run. With it and the rows of the run every score can be computed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardInfo")]
pub struct ScorecardInfo {
    /// Its name: the code of its index or only top rubric, else its folder.
    pub name: String,
    /// The weight set that counts; null without an index.
    pub weight_set: Option<String>,
    /// All weight sets of the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weight_sets: Vec<ScorecardWeightSet>,
    /// Its parts, each after the one it stands under.
    pub nodes: Vec<ScorecardNodeInfo>,
}

/// A named set of weights of an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardWeightSet")]
pub struct ScorecardWeightSet {
    /// Its name.
    pub name: String,
    /// Component and weight, in the order of the index.
    pub weights: Vec<(String, Weight)>,
}

/// A part of a scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardNodeInfo")]
pub struct ScorecardNodeInfo {
    /// Its code.
    pub code: String,
    /// Its name for people.
    pub label: Option<String>,
    /// Kind of the part.
    pub kind: ScorecardPartKind,
    /// The part it stands under: a place in the list, before its own; null on top.
    pub parent: Option<usize>,
    /// Its weight among its siblings.
    pub weight: Weight,
    /// The score it must reach.
    pub threshold: UnitInterval,
    /// Of an index or rubric: how the scores below become one.
    pub aggregation: Option<ScorecardAggregation>,
    /// Of a benchmark: what missing the threshold means.
    pub criticality: Option<Criticality>,
    /// True if missing the threshold blocks every level above.
    pub hard_gate: bool,
    /// Of a benchmark: who judges it, such as `llm_judge`.
    pub evaluator: Option<String>,
    /// Of a benchmark with a scale of its own: the scale, so that people's scores can be counted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScorecardScale>,
    /// Of a benchmark: number of people who have to decide before their labels count, if the scorecard says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raters: Option<NonZeroU32>,
    /// The cases it was planned for; of an index or rubric the cases of all benchmarks that count below, each
    /// once.
    pub cases: u64,
    /// Of a benchmark: how many of them the evaluator had to say about whether it applies.
    pub cases_asked: u64,
}

/// Scale of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardScale")]
pub struct ScorecardScale {
    /// The lowest score.
    pub min: f64,
    /// The highest score.
    pub max: f64,
    /// The formula that brings a score to 0 to 1, as written.
    pub formula: String,
}

assize_rubric::named_enum! {
    /// Kind of a part of a scorecard.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "CardPartKind")]
    pub enum ScorecardPartKind {
        /// The number on top.
        Index = "index",
        /// Made up of other rubrics or of benchmarks.
        Rubric = "rubric",
        /// Scored over cases.
        Benchmark = "benchmark",
    }
}
