//! Agreement of the judges over all votes of a run.

use assize_rubric::{Tokens, Usd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Agreement among the votes of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelSummary {
    /// Number of decisions with several votes.
    pub decisions: u64,
    /// Number of votes.
    pub votes: u64,
    /// Number of votes without a usable decision.
    pub missing: u64,
    /// Number of decisions with tied votes.
    pub ties: u64,
    /// Number of decisions with differing votes.
    pub split: u64,
    /// Share of decisions that a judge did not repeat consistently.
    pub flips: FlipRate,
    /// Share of differing votes of two judges, averaged over decisions; null with one judge.
    pub disagreement: Option<f64>,
    /// Criteria with differing votes, least stable first.
    pub unstable: Vec<UnstableCriterion>,
    /// Number of further unstable criteria.
    pub unstable_more: u64,
    /// Number of criteria that are not listed individually. The other metrics include them.
    pub not_followed: u64,
    /// Effect of escalation; null without escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<EscalationSummary>,
}

/// Share of repeated decisions that differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlipRate {
    /// Number of decisions that a judge made more than once.
    pub repeated: u64,
    /// Number of those that differ between repeats.
    pub flipped: u64,
    /// Share of those that differ; null without repeats.
    pub rate: Option<f64>,
    /// Lower end of Wilson's 95% CI.
    pub low: Option<f64>,
    /// Upper end of Wilson's 95% CI.
    pub high: Option<f64>,
}

/// A criterion with differing votes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnstableCriterion {
    /// Name of the suite.
    pub suite: String,
    /// Name of the grader.
    pub grader: String,
    /// Criterion id as shown in results.
    pub criterion: String,
    /// Case id, if only one case has this criterion; otherwise null.
    pub case_id: Option<String>,
    /// Number of decisions on the criterion.
    pub decisions: u64,
    /// Number of decisions with differing votes.
    pub split: u64,
    /// Share of differing pairs among repeated votes of a judge, averaged over decisions; null without repeats.
    pub flip_rate: Option<f64>,
    /// Share of differing votes of two judges, averaged over decisions; null with one judge.
    pub disagreement: Option<f64>,
}

/// Effect and savings of escalation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EscalationSummary {
    /// Number of decisions that could have been escalated.
    pub decisions: u64,
    /// Number of decisions that were escalated.
    pub escalated: u64,
    /// Estimated calls to the stronger judge that escalation avoided.
    pub saved_calls: u64,
    /// Estimated tokens of the stronger judge that escalation avoided.
    pub saved_tokens: Tokens,
    /// Estimated savings in US dollars; null if unknown.
    #[serde(default)]
    pub saved_usd: Option<Usd>,
}
