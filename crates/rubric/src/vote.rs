//! Votes of a panel and the report on how they became one decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{OutcomeKind, PanelRule, TiePolicy};

/// Source of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VoteRow")]
pub struct Vote {
    /// Position of the judge in the panel, from 1; 0 for the escalation judge.
    pub judge: u32,
    /// Number of the repeat of this judge, from 1.
    pub repeat: u32,
    /// Weight of the judge.
    pub weight: f64,
}

impl Vote {
    /// Vote of the escalation judge.
    pub const ESCALATION: Self = Self { judge: 0, repeat: 1, weight: 1.0 };

    /// Returns true if this is the vote of the escalation judge.
    pub const fn is_escalation(self) -> bool {
        self.judge == 0
    }
}

/// Votes on a criterion and how they were combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PanelRow")]
pub struct PanelReport {
    /// Rule that combines the votes.
    pub rule: PanelRule,
    /// Rule for a tie.
    pub ties: TiePolicy,
    /// Votes in the order of judges and repeats. The vote of the escalation judge is last.
    pub votes: Vec<VoteSummary>,
    /// Number of votes without a usable decision.
    pub missing: u32,
    /// True if the votes are tied.
    pub tie: bool,
    /// Mean of the votes, 0 to 1. For met and unmet, the share of `met`. Null if no vote has a value.
    pub mean: Option<f64>,
    /// Share of votes that agree with the most common vote; null with fewer than two votes.
    pub agreement: Option<f64>,
    /// Share of differing pairs among repeated votes of a judge, averaged over judges; null without repeats.
    pub flip_rate: Option<f64>,
    /// Share of differing votes of two judges, averaged over pairs of judges; null with one judge.
    pub disagreement: Option<f64>,
    /// Lowest value that missing votes or a tie could lead to, 0 to 1.
    pub low: f64,
    /// Highest value that missing votes or a tie could lead to, 0 to 1.
    pub high: f64,
    /// Escalation judge, and the reason for its call; null without escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<EscalationReport>,
}

/// Summary of a vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PanelVoteRow")]
pub struct VoteSummary {
    /// Name of the judge as configured.
    pub judge: String,
    /// Repeat of the judge, from 1.
    pub repeat: u32,
    /// `met`, `unmet`, `scored`, `not_applicable`, `uncertain` or `ungraded`.
    pub outcome: VoteOutcome,
    /// Value, 0 to 1; null if ungraded or not applicable.
    pub value: Option<f64>,
}

/// Stronger judge for decisions that the panel is unsure of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EscalationRow")]
pub struct EscalationReport {
    /// The judge.
    pub to: String,
    /// When to escalate: `split` or `unsure`.
    pub when: EscalateWhen,
    /// Reason for asking the judge; null if the panel was sure.
    pub because: Option<String>,
}

crate::named_enum! {
    /// When to ask the stronger judge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    pub enum EscalateWhen {
        /// If votes differ or a judge gave no usable decision.
        Split = "split",
        /// Also if a judge states low confidence, invents a quote, or decides with a low token probability.
        #[default]
        Unsure = "unsure",
    }
}

impl EscalateWhen {
    /// Minimum probability for a decision of met or unmet to count as sure.
    pub const SURE: f64 = 0.8;
}

crate::named_enum! {
    /// Outcome of a vote.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum VoteOutcome {
        /// The answer meets the criterion.
        Met = "met",
        /// The answer does not meet the criterion.
        Unmet = "unmet",
        /// The criterion has a score.
        Scored = "scored",
        /// The criterion or benchmark does not apply.
        NotApplicable = "not_applicable",
        /// The judge was uncertain about the benchmark.
        Uncertain = "uncertain",
        /// The judge gave no usable decision.
        Ungraded = "ungraded",
    }
}

impl From<OutcomeKind> for VoteOutcome {
    fn from(kind: OutcomeKind) -> Self {
        match kind {
            OutcomeKind::Met => Self::Met,
            OutcomeKind::Unmet => Self::Unmet,
            OutcomeKind::Scored => Self::Scored,
            OutcomeKind::NotApplicable => Self::NotApplicable,
            OutcomeKind::Ungraded => Self::Ungraded,
        }
    }
}
