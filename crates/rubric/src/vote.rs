//! Votes of a panel and the report on how they became one decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{OutcomeKind, PanelRule, TiePolicy};

/// The judge whose vote a decision is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VoteRow")]
pub struct Vote {
    /// Place of the judge in the panel, from 1; 0 for the judge that was escalated to.
    pub judge: u32,
    /// Number of this vote among those of the same judge, from 1.
    pub repeat: u32,
    /// Weight of the judge.
    pub weight: f64,
}

impl Vote {
    /// The vote of the judge that was escalated to.
    pub const ESCALATION: Self = Self { judge: 0, repeat: 1, weight: 1.0 };

    /// Returns true if it is the vote of the judge that was escalated to.
    pub const fn is_escalation(self) -> bool {
        self.judge == 0
    }
}

/// Record of the votes on one criterion and the decision they led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PanelRow")]
pub struct PanelReport {
    /// Rule that combines the votes.
    pub rule: PanelRule,
    /// Rule for a tie.
    pub ties: TiePolicy,
    /// The votes, by judge and repeat, that of the judge that was escalated to last.
    pub votes: Vec<VoteSummary>,
    /// Votes of judges that could not be made to answer.
    pub missing: u32,
    /// True if the votes are evenly split, whatever the tie led to.
    pub tie: bool,
    /// Mean of the votes that have a value, 0 to 1: the share of met votes on a checklist. Null if none has one.
    pub mean: Option<f64>,
    /// Share of the votes cast that say what most of them say; null if fewer than two were cast.
    pub agreement: Option<f64>,
    /// Share of pairs of votes of the same judge that differ, mean over judges; null where none was asked twice.
    pub flip_rate: Option<f64>,
    /// Share of votes of two judges that differ, mean over pairs of judges; null for one judge.
    pub disagreement: Option<f64>,
    /// The lowest value that the missing votes, or the resolution of a tie, could lead to, 0 to 1.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Judge for decisions the panel is not sure of, and the reason it was asked; null without escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<EscalationReport>,
}

/// A vote in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PanelVoteRow")]
pub struct VoteSummary {
    /// The judge, as the user named it.
    pub judge: String,
    /// Repeat of the judge, from 1.
    pub repeat: u32,
    /// `met`, `unmet`, `scored`, `not_applicable`, `uncertain` or `ungraded`.
    pub outcome: VoteOutcome,
    /// The value, 0 to 1; null when nothing was decided or nothing applies.
    pub value: Option<f64>,
}

/// A stronger judge for what a panel is not sure of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EscalationRow")]
pub struct EscalationReport {
    /// The judge.
    pub to: String,
    /// When it is asked: `split` or `unsure`.
    pub when: EscalateWhen,
    /// Reason it was asked; null where the panel was sure, and its decision stands.
    pub because: Option<String>,
}

crate::named_enum! {
    /// When a criterion goes to the stronger judge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
    pub enum EscalateWhen {
        /// When votes differ, or a judge could not be made to answer.
        Split = "split",
        /// Also when a judge says that it is little sure, quotes what is not there, or leaves its decision with a
        /// probability below [`EscalateWhen::SURE`].
        #[default]
        Unsure = "unsure",
    }
}

impl EscalateWhen {
    /// The probability from which a decision of met or unmet counts as sure.
    pub const SURE: f64 = 0.8;
}

crate::named_enum! {
    /// Outcome of a vote.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum VoteOutcome {
        /// The answer does it.
        Met = "met",
        /// The answer does not do it.
        Unmet = "unmet",
        /// There is a score.
        Scored = "scored",
        /// The criterion or benchmark does not apply.
        NotApplicable = "not_applicable",
        /// The judge was not certain about a benchmark.
        Uncertain = "uncertain",
        /// The judge could not be made to answer.
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
