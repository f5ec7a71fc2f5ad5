//! A decision with its place in a case.

use std::sync::Arc;

use crate::{Criterion, Decision, GraderFinding, GraderWeighting, PanelReport, VerdictThresholds, Vote};

/// A decision with its place in a case. Every number of a run can be recomputed from these.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseDecision {
    /// Thresholds of the verdict of the case.
    pub thresholds: VerdictThresholds,
    /// Name of the grader of the case.
    pub grader: Arc<str>,
    /// The grader's weight and gate.
    pub weighting: GraderWeighting,
    /// Path of names from the composite to this member; empty for the grader itself.
    pub member: Vec<String>,
    /// Number of the turn of a conversation that was graded, from 1.
    pub turn: Option<u32>,
    /// Way in which the criteria of the rubric were sent to the judge: `per_criterion`, `batched` or `batched:N`.
    pub judging: Option<Arc<str>>,
    /// The decision.
    pub decision: Decision,
    /// If this is one of several votes, its source. The decision that combines the votes comes before them.
    pub vote: Option<Vote>,
    /// If this decision combines votes, the report on them. The votes come after it, and their costs are
    /// stored with them.
    pub panel: Option<PanelReport>,
}

impl CaseDecision {
    /// Returns true if this is one of several votes, which an earlier decision combines.
    pub const fn is_vote(&self) -> bool {
        self.vote.is_some()
    }

    /// Returns true if this is the vote of the escalation judge.
    pub fn is_escalation(&self) -> bool {
        self.vote.is_some_and(Vote::is_escalation)
    }

    /// The criterion that was decided; `None` for a grader as a whole.
    pub const fn criterion(&self) -> Option<&Criterion> {
        self.decision.criterion()
    }

    /// The finding of a grader as a whole.
    pub fn finding(&self) -> Option<&GraderFinding> {
        self.decision.grader()
    }

    /// Returns true if both decide the same question: the same criterion of the same grader, or that grader as a whole.
    pub fn is_about_same(&self, other: &Self) -> bool {
        let id = |one: &Self| one.criterion().map(|criterion| criterion.id.clone());
        self.grader == other.grader && self.member == other.member && id(self) == id(other)
    }

    /// Returns an id as results show it, after the names of the members that contain it.
    pub fn shown_id(&self, id: impl Into<Arc<str>>) -> Arc<str> {
        let id = id.into();
        if self.member.is_empty() {
            return id;
        }

        let members = self.member.iter().map(String::as_str);
        let parts: Vec<&str> = members.chain(Some(&*id).filter(|id| !id.is_empty())).collect();
        parts.join("/").into()
    }

    /// The id of the criterion as results show it; `score` for a whole grader.
    pub fn shown_criterion(&self) -> Arc<str> {
        match self.criterion() {
            Some(criterion) => self.shown_id(criterion.id.clone()),
            None => self.shown_id("score"),
        }
    }
}
