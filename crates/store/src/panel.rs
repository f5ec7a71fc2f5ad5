//! Votes of a panel and their combined decision, as stored.

use assize_rubric::{Cast, PanelDecision, PanelRule, PanelVote, Scale, Ties, combine_votes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BenchmarkState, JudgementRow};

/// Whose vote a row of `judgements.jsonl` is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VoteRow {
    /// Place of the judge in the panel, from 1; 0 for the judge that was escalated to.
    pub judge: u32,
    /// How many times this judge has been asked with this one, from 1.
    pub repeat: u32,
    /// Weight of the judge.
    pub weight: f64,
}

impl VoteRow {
    /// Returns true for the vote of the judge that was escalated to.
    pub const fn is_escalation(self) -> bool {
        self.judge == 0
    }
}

/// How several votes on one criterion became its decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelRow {
    /// How they are combined.
    pub rule: PanelRule,
    /// What becomes of a tie.
    pub ties: Ties,
    /// The votes, by judge and repeat, that of the judge that was escalated to last.
    pub votes: Vec<PanelVoteRow>,
    /// Votes of judges that could not be made to answer.
    pub missing: u32,
    /// Whether the votes are evenly split, whatever became of that.
    pub tie: bool,
    /// Mean of the votes that have a value, 0 to 1: the share of met votes on a checklist. Null if none has one.
    pub mean: Option<f64>,
    /// Share of the votes cast that say what most of them say; null if fewer than two were cast.
    pub agreement: Option<f64>,
    /// How often two votes of the same judge differ, mean over judges; null where none was asked twice.
    pub flip_rate: Option<f64>,
    /// How often votes of two judges differ, mean over pairs of judges; null for one judge.
    pub disagreement: Option<f64>,
    /// The lowest value that the missing votes, or the resolution of a tie, could lead to, 0 to 1.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Who was to be asked where the panel is not sure, and whether that was so; null without escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<EscalationRow>,
}

/// A vote in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelVoteRow {
    /// The judge, as the user named it.
    pub judge: String,
    /// Which of its repeats, from 1.
    pub repeat: u32,
    /// `met`, `unmet`, `scored`, `not_applicable`, `uncertain` or `ungraded`.
    pub outcome: String,
    /// The value, 0 to 1; null when nothing was decided or nothing applies.
    pub value: Option<f64>,
}

/// A stronger judge for what a panel is not sure of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EscalationRow {
    /// The judge.
    pub to: String,
    /// When it is asked: `split` or `unsure`.
    pub when: String,
    /// Why it was asked; null where the panel was sure, and its decision stands.
    pub because: Option<String>,
}

impl JudgementRow {
    /// The value of the row as a vote.
    pub fn cast(&self) -> Cast {
        match &self.grader_result {
            None => Cast::from(self.decided()),
            Some(result) => match (result.score, &result.error, self.benchmark_state()) {
                (_, None, Some(BenchmarkState::NotApplicable)) => Cast::NotApplicable,
                // An uncertain judge might decide either way.
                (.., Some(BenchmarkState::Uncertain)) => Cast::Missing,
                (Some(score), None, _) if (0.0..=1.0).contains(&score) => Cast::Value(score),
                _ => Cast::Missing,
            },
        }
    }

    /// Returns the state of the benchmark, in a row about one.
    pub fn benchmark_state(&self) -> Option<BenchmarkState> {
        self.grader_result.as_ref()?.benchmark.map(|benchmark| benchmark.state)
    }

    /// Returns true if the row is decided as met or unmet, or pass or fail, rather than scored. Missing votes
    /// don't change this.
    fn is_binary(&self) -> bool {
        let whole = || Some((self.grader_result.as_ref()?, self.grader_result.as_ref()?.benchmark?));
        match whole() {
            Some((result, benchmark)) => {
                !benchmark.scaled && result.score.is_none_or(|score| score == 0.0 || score == 1.0)
            }
            None => self.grader_result.is_none() && matches!(self.criterion.scale, Scale::Checklist),
        }
    }

    /// Returns true if this row is one of several votes, which the row before them combines.
    pub const fn is_vote(&self) -> bool {
        self.vote.is_some()
    }
}

/// Combines the votes on one criterion. If the judge that was escalated to has voted, its vote alone decides.
pub fn panel_decision(votes: &[&JudgementRow], rule: PanelRule, ties: Ties) -> PanelDecision {
    panel_decision_if(votes, rule, ties, JudgementRow::cast)
}

/// Combines the votes with `cast` as the value of each.
pub fn panel_decision_if(
    votes: &[&JudgementRow],
    rule: PanelRule,
    ties: Ties,
    cast: impl Fn(&JudgementRow) -> Cast,
) -> PanelDecision {
    let of = |row: &JudgementRow| row.vote.is_some_and(VoteRow::is_escalation);
    let escalated = votes.iter().any(|row| of(row));
    let counted: Vec<PanelVote> = votes
        .iter()
        .filter(|row| of(row) == escalated)
        .map(|row| PanelVote { cast: cast(row), weight: row.vote.map_or(1.0, |vote| vote.weight) })
        .collect();
    let first = votes.first();
    let binary = first.is_some() && votes.iter().all(|row| row.is_binary());
    let may_not_apply = first.is_some_and(|row| row.criterion.may_not_apply);
    combine_votes(&counted, binary, may_not_apply, rule, ties)
}
