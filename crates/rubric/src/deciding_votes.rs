//! Decision of a panel, computed from the votes that count.

use crate::{
    CaseDecision, Decision, PanelDecision, PanelRule, PanelVote, TiePolicy, VoteOutcome, VoteSummary,
    VoteValue, combine_votes,
};

/// Computes the decision from the votes on one criterion. If there is a vote of the escalation judge, it
/// alone decides.
pub fn panel_decision(votes: &[&CaseDecision], rule: PanelRule, ties: TiePolicy) -> PanelDecision {
    panel_decision_if(votes, rule, ties, Decision::vote_value)
}

/// Computes the decision that would result if each vote had the value that `value` returns.
pub fn panel_decision_if(
    votes: &[&CaseDecision],
    rule: PanelRule,
    ties: TiePolicy,
    value: impl Fn(&Decision) -> VoteValue,
) -> PanelDecision {
    let counted: Vec<PanelVote> = select_deciding_votes(votes)
        .iter()
        .map(|row| PanelVote {
            value: value(&row.decision),
            weight: row.vote.map_or(1.0, |vote| vote.weight),
        })
        .collect();

    let first = votes.first();
    let binary = first.is_some() && votes.iter().all(|row| row.decision.is_binary());
    let may_not_apply = first.is_some_and(|row| row.decision.may_not_apply());

    combine_votes(&counted, binary, may_not_apply, rule, ties)
}

/// Returns the votes that count: only the escalation judge's, if there is one.
pub fn select_deciding_votes<'a>(votes: &[&'a CaseDecision]) -> Vec<&'a CaseDecision> {
    let escalated = votes.iter().any(|row| row.is_escalation());
    votes.iter().filter(|row| row.is_escalation() == escalated).copied().collect()
}

impl VoteSummary {
    /// Creates the summary of a vote.
    pub fn new(vote: &CaseDecision) -> Self {
        let decision = &vote.decision;
        let (outcome, value) = match decision.vote_value() {
            VoteValue::Value(value) => (VoteOutcome::Scored, Some(value)),
            VoteValue::NotApplicable => (VoteOutcome::NotApplicable, None),
            VoteValue::Missing if decision.is_uncertain() => (VoteOutcome::Uncertain, None),
            VoteValue::Missing => (VoteOutcome::Ungraded, None),
        };

        let outcome = decision.criterion().map_or(outcome, |_| decision.outcome().kind().into());

        Self {
            judge: decision.judge.name.to_string(),
            repeat: vote.vote.map_or(1, |vote| vote.repeat),
            outcome,
            value,
        }
    }
}
