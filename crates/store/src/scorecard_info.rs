//! The tree of a scorecard as it was run, stored in `run.json`.

use std::num::NonZeroU32;

use assize_rubric::{Criticality, ScorecardAggregation, UnitInterval, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scorecard of the run. All scores can be recomputed from it and the rows of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardInfo")]
pub struct ScorecardInfo {
    /// Name: the code of the index or of the only top rubric, or the folder name.
    pub name: String,
    /// Weight set used; null without an index.
    pub weight_set: Option<String>,
    /// Weight sets of the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weight_sets: Vec<ScorecardWeightSet>,
    /// Parts of the tree, parents before children.
    pub nodes: Vec<ScorecardNodeInfo>,
}

impl ScorecardInfo {
    /// Returns true if the part at this index is a hard gate, or stands below one.
    pub fn is_gate(&self, place: usize) -> bool {
        let mut place = Some(place);
        while let Some(node) = place.and_then(|place| self.nodes.get(place)) {
            if node.hard_gate || node.criticality == Some(Criticality::HardGate) {
                return true;
            }
            // Every part comes after its parent; anything else is a damaged tree.
            place = node.parent.filter(|parent| place.is_some_and(|place| *parent < place));
        }

        false
    }
}

/// Named set of weights of an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardWeightSet")]
pub struct ScorecardWeightSet {
    /// Its name.
    pub name: String,
    /// Weights of the components, in the order of the index.
    pub weights: Vec<(String, Weight)>,
}

/// A part of a scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CardNodeInfo")]
pub struct ScorecardNodeInfo {
    /// Its code.
    pub code: String,
    /// Display name.
    pub label: Option<String>,
    /// Kind of the part.
    pub kind: ScorecardPartKind,
    /// Position of the parent in the list; null for the top.
    pub parent: Option<usize>,
    /// Weight in the parent.
    pub weight: Weight,
    /// Pass threshold, 0 to 1.
    pub threshold: UnitInterval,
    /// Rule that aggregates the scores of the children, for an index or rubric.
    pub aggregation: Option<ScorecardAggregation>,
    /// Effect of a failure on the nodes above, for a benchmark.
    pub criticality: Option<Criticality>,
    /// True if a failure blocks all nodes above.
    pub hard_gate: bool,
    /// True for an index whose components may have no case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Evaluator type of a benchmark, such as `llm_judge`.
    pub evaluator: Option<String>,
    /// Scale of a benchmark that has its own, for scores from people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<ScorecardScale>,
    /// Number of reviewers needed before labels count, if the benchmark sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raters: Option<NonZeroU32>,
    /// Number of cases of the benchmark. For an index or rubric: number of distinct cases of the benchmarks below that
    /// count.
    pub cases: u64,
    /// Number of cases for which the evaluator decided whether the benchmark applies.
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
    /// Formula that normalizes a score to 0 to 1.
    pub formula: String,
}

assize_rubric::named_enum! {
    /// Kind of a part of a scorecard.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    #[schemars(rename = "CardPartKind")]
    pub enum ScorecardPartKind {
        /// The index at the top.
        Index = "index",
        /// A rubric, aggregated from other rubrics or benchmarks.
        Rubric = "rubric",
        /// A benchmark, scored over cases.
        Benchmark = "benchmark",
    }
}
