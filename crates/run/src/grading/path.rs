//! The path to a grader in its case, and the decisions made there.

use std::fmt::Display;
use std::sync::Arc;

use assize_grade::CheckResult;
use assize_model::Grader;
use assize_rubric::{
    CaseDecision, Decision, GraderFinding, GraderFindingKind, GraderWeighting, JudgeIdentity,
};

use super::GradingContext;

/// The path to a grader: the grader of the case that contains it, and the members in between.
#[derive(Clone)]
pub(super) struct GraderPath<'a> {
    pub(super) context: &'a GradingContext<'a>,
    /// Name of the grader of the case, as its rows carry it.
    pub(super) top: Arc<str>,
    pub(super) grader: &'a Grader,
    /// Weight and conditions of the grader; an aggregator may override the weight.
    pub(super) weighting: GraderWeighting,
    pub(super) members: Vec<String>,
    /// True if the grader, or one that contains it, is negated.
    pub(super) inverted: bool,
}

impl<'a> GraderPath<'a> {
    /// The path to a grader of the case.
    pub(super) fn new(context: &'a GradingContext<'a>, grader: &'a Grader) -> Self {
        let top = grader.name.as_str().into();
        let weighting = grader.weighting;
        Self { context, top, grader, weighting, members: Vec::new(), inverted: weighting.negate }
    }

    /// The path to a member of this grader.
    pub(super) fn to_member(&self, grader: &'a Grader, weighting: GraderWeighting) -> Self {
        let mut members = self.members.clone();
        members.push(grader.name.clone());
        let inverted = self.inverted || weighting.negate;
        Self { context: self.context, top: Arc::clone(&self.top), grader, weighting, members, inverted }
    }

    /// The decision of this grader.
    pub(super) fn place(&self, decision: Decision) -> CaseDecision {
        CaseDecision {
            thresholds: self.context.item.thresholds,
            grader: Arc::clone(&self.top),
            weighting: self.weighting,
            member: self.members.clone(),
            turn: self.context.turn,
            judging: None,
            decision,
            vote: None,
            panel: None,
        }
    }

    /// The decision of a grader that decides by itself, at no cost.
    pub(super) fn own_decision(&self, finding: GraderFinding, reason: String) -> CaseDecision {
        let name = self.grader.type_name.as_str().into();
        let judge = JudgeIdentity { name, ..JudgeIdentity::default() };
        self.place(Decision::new(judge, finding, reason))
    }

    /// The decision of a check. If its code threw an error, there is nothing to invert.
    pub(super) fn checked_decision(&self, checked: CheckResult) -> CaseDecision {
        if checked.threw && self.inverted {
            let message = checked.findings.first().map_or("", |note| note.reason.as_str());
            return self.broken_decision(format!(
                "the script threw an error, which does not make a negated assertion pass: {message}"
            ));
        }

        let mut finding = GraderFinding::new(checked.score, checked.findings);
        if let Some(passed) = checked.passed {
            finding.kind = GraderFindingKind::Checked { passed };
        }

        self.own_decision(finding, String::new())
    }

    /// The decision of a grader that broke.
    pub(super) fn broken_decision(&self, message: impl Display) -> CaseDecision {
        self.own_decision(GraderFinding::broken(message.to_string()), String::new())
    }
}
