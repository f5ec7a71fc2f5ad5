//! Agreement of the judges over all votes of a run.

use assize_rubric::{Tokens, Usd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Agreement of the votes of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelSummary {
    /// Decisions that were made of several votes.
    pub decisions: u64,
    /// Their votes.
    pub votes: u64,
    /// Votes of judges that could not be made to answer.
    pub missing: u64,
    /// Decisions whose votes are evenly split.
    pub ties: u64,
    /// Decisions whose votes are not all the same.
    pub split: u64,
    /// Decisions on which a judge that was asked several times did not say the same each time.
    pub flips: FlipRate,
    /// Share of votes of two judges that differ, mean over decisions; null where there is one judge.
    pub disagreement: Option<f64>,
    /// The criteria on which votes differ, the least stable first.
    pub unstable: Vec<UnstableCriterion>,
    /// Number of further unstable criteria.
    pub unstable_more: u64,
    /// Criteria beyond those that could be followed one by one; they are in all other figures.
    pub not_followed: u64,
    /// Decisions left to a stronger judge; null without escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<EscalationSummary>,
}

/// The share of repeated decisions that were not the same each time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlipRate {
    /// Decisions, by judge, that were made twice or more.
    pub repeated: u64,
    /// Those that were not the same each time.
    pub flipped: u64,
    /// Their share; null if nothing was asked twice.
    pub rate: Option<f64>,
    /// Lower end of Wilson's 95% CI.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// A criterion on which votes differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnstableCriterion {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion, as results show it.
    pub criterion: String,
    /// The case, if only one has this criterion; null where several have it.
    pub case_id: Option<String>,
    /// Decisions on it.
    pub decisions: u64,
    /// Those whose votes are not all the same.
    pub split: u64,
    /// Share of pairs of votes of the same judge that differ, mean over decisions; null where none was asked twice.
    pub flip_rate: Option<f64>,
    /// Share of votes of two judges that differ, mean over decisions; null for one judge.
    pub disagreement: Option<f64>,
}

/// Effect and savings of escalation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EscalationSummary {
    /// Decisions that could have been escalated.
    pub decisions: u64,
    /// Those that were.
    pub escalated: u64,
    /// Calls that the stronger judge was spared: as many as the first judge took for what was not escalated.
    pub saved_calls: u64,
    /// Tokens that the stronger judge was spared, as far as the first judge's tokens for the same decisions tell.
    pub saved_tokens: Tokens,
    /// US dollars that were spared, at what the stronger judge's decisions cost on average; null where that is not known.
    #[serde(default)]
    pub saved_usd: Option<Usd>,
}
