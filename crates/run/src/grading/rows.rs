//! Conversion of graders' decisions to judgement rows.

use std::sync::Arc;

use assize_evalfile::Grader;
use assize_grade::{Checked, Finding, Judged, Spent, WholeJudgement};
use assize_rubric::{
    Cost, Criterion, CriterionId, GraderStanding, JudgeIdentity, Judgement, Outcome, Tokens, Ungraded,
    UngradedKind, Unit,
};
use assize_store::{GraderResult, JudgementContext, JudgementRow, Note};

use super::Scene;

/// A grader and its path from the grader of the case that it belongs to.
pub(super) struct Spot<'a> {
    /// Name of the grader of the case, as its rows carry it.
    pub(super) top: Arc<str>,
    pub(super) grader: &'a Grader,
    /// Weight and conditions of the grader; an aggregator may override the weight.
    pub(super) standing: GraderStanding,
    pub(super) path: Vec<String>,
}

impl Spot<'_> {
    pub(super) fn context(&self, scene: &Scene<'_>) -> JudgementContext {
        JudgementContext {
            suite: Arc::clone(&scene.item.suite),
            case_id: scene.item.case.id.clone().into(),
            target: scene.target.clone(),
            repeat: scene.item.repeat,
            lines: scene.item.lines,
            grader: Arc::clone(&self.top),
            standing: self.standing,
            member: self.path.clone(),
            turn: scene.turn,
        }
    }

    /// Row of a grader that decided without a judge, at no cost.
    pub(super) fn row(&self, scene: &Scene<'_>, result: GraderResult, reason: String) -> JudgementRow {
        let judgement = Judgement { reason, ..self.nobody() };
        JudgementRow::of_grader(self.context(scene), result, judgement)
    }

    pub(super) fn checked(&self, scene: &Scene<'_>, checked: Checked) -> JudgementRow {
        let result = GraderResult {
            score: checked.score.map(Unit::get),
            notes: checked.findings.into_iter().map(note).collect(),
            ..GraderResult::default()
        };
        self.row(scene, result, String::new())
    }

    /// Row of a criterion that the named judge could not be asked about.
    pub(super) fn unjudged(
        &self,
        scene: &Scene<'_>,
        criterion: &Criterion,
        judge: &str,
        message: &str,
    ) -> JudgementRow {
        let judgement = Judgement {
            reason: message.to_owned(),
            judge: JudgeIdentity { name: judge.into(), ..JudgeIdentity::default() },
            ungraded: Some(Ungraded { kind: UngradedKind::NotJudged, message: message.to_owned() }),
            ..self.nobody()
        };
        JudgementRow::new(self.context(scene), criterion, judgement)
    }

    /// Row of a grader that broke.
    pub(super) fn broken(&self, scene: &Scene<'_>, message: String) -> JudgementRow {
        self.row(scene, GraderResult { error: Some(message), ..GraderResult::default() }, String::new())
    }

    /// Row of a judge's score, with its cost.
    pub(super) fn whole(&self, scene: &Scene<'_>, judged: WholeJudgement) -> JudgementRow {
        let (decided, judgement) = self.judgement(judged);
        let result = match decided {
            Ok(whole) => GraderResult {
                score: Some(whole.score.get()),
                notes: whole.findings.into_iter().map(note).collect(),
                ..GraderResult::default()
            },
            Err(ungraded) => GraderResult { error: Some(not_judged(&ungraded)), ..GraderResult::default() },
        };
        JudgementRow::of_grader(self.context(scene), result, judgement)
    }

    /// Splits a judge's decision into the result and a judgement with all other fields.
    pub(super) fn judgement<D>(&self, judged: Judged<D>) -> (Result<D, Ungraded>, Judgement) {
        let Judged { decided, reason, confidence, evidence, judge, spent } = judged;
        let Spent { attempts, cached_calls, tokens, latency_ms, cost, replies } = spent;
        let judgement = Judgement {
            reason,
            evidence,
            confidence,
            judge,
            ungraded: decided.as_ref().err().cloned(),
            attempts,
            cached_calls,
            tokens,
            latency_ms,
            cost,
            replies,
            ..self.nobody()
        };
        (decided, judgement)
    }

    /// Placeholder judgement for graders without criteria.
    pub(super) fn nobody(&self) -> Judgement {
        Judgement {
            criterion: CriterionId::new("grader"),
            outcome: Outcome::Ungraded,
            reason: String::new(),
            evidence: Vec::new(),
            confidence: None,
            probability: None,
            judge: JudgeIdentity { name: self.grader.type_name.as_str().into(), ..JudgeIdentity::default() },
            ungraded: None,
            attempts: 0,
            cached_calls: 0,
            tokens: Tokens::default(),
            latency_ms: None,
            cost: Cost::ZERO,
            truncated: None,
            replies: Vec::new(),
        }
    }
}

/// Error message of a grader whose judge gave no score.
pub(super) fn not_judged(ungraded: &Ungraded) -> String {
    format!("could not be judged: {}", ungraded.message)
}

pub(super) fn note(finding: Finding) -> Note {
    let Finding { text, passed, reason, weight } = finding;
    Note { text, passed, reason, weight }
}
