//! Rubrics, decided criterion by criterion by one judge or several.

use std::sync::Arc;

use assize_grade::{JudgeQuestion, RubricTask, SamplingOptions};
use assize_model::RubricGrader;
use assize_rubric::{
    CaseDecision, Criterion, Decision, Finding, Gate, JudgeIdentity, PanelRule, Rubric, UngradedKind,
    UngradedReason, Weight,
};

use super::GradingContext;
use super::path::GraderPath;
use super::votes::{self, PanelQuestion};
use crate::panel::JudgePanel;

pub(super) async fn grade(path: &GraderPath<'_>, grader: &RubricGrader) -> Vec<CaseDecision> {
    let spec = path.context.item.panels.spec(&grader.panel, grader.judge.as_deref());
    let panel = JudgePanel::new(&spec, path.context.judge_selector(grader.judge.as_deref()));
    let task = rubric_task(path.context, grader, panel.probabilities);
    let judging = task.judging.to_string().into();
    let question = RubricQuestion { path, task, judging };

    let decided = votes::decide(path.context, &panel, &question).await;
    decided.unwrap_or_else(|error| vec![path.broken_decision(error)])
}

/// The criteria of a rubric as a question to a panel.
struct RubricQuestion<'a> {
    path: &'a GraderPath<'a>,
    task: RubricTask,
    judging: Arc<str>,
}

impl RubricQuestion<'_> {
    /// The decision on criterion `at`, with the weight and gate of its rubric.
    fn place(&self, at: usize, decision: Decision) -> CaseDecision {
        let criterion = self.task.rubric.criteria()[at].clone();
        let finding = Finding::Criterion { criterion, outcome: decision.outcome() };
        self.path.place(Decision { finding, ..decision })
    }
}

impl PanelQuestion for RubricQuestion<'_> {
    fn count(&self) -> usize {
        self.task.rubric.criteria().len()
    }

    fn questions(&self, open: &[usize]) -> Vec<JudgeQuestion> {
        let criteria = self.task.rubric.criteria();
        if open.len() == criteria.len() {
            return vec![JudgeQuestion::Rubric(self.task.clone())];
        }

        // Judges don't need weights and gates, and a part of the criteria with their weights may not be a valid
        // rubric.
        let batch = open.iter().map(|&at| Criterion {
            weight: Weight::ONE,
            gate: None::<Gate>,
            ..criteria[at].clone()
        });
        let rubric = Rubric::new(batch.collect()).ok().map(Arc::new);
        rubric
            .map(|rubric| JudgeQuestion::Rubric(RubricTask { rubric, ..self.task.clone() }))
            .into_iter()
            .collect()
    }

    fn decisions(&self, _: &JudgeIdentity, open: &[usize], decided: Vec<Vec<Decision>>) -> Vec<CaseDecision> {
        let judging = Some(&self.judging);
        let decided = open.iter().zip(decided.into_iter().flatten());
        decided
            .map(|(&at, decision)| CaseDecision { judging: judging.cloned(), ..self.place(at, decision) })
            .collect()
    }

    fn unasked(&self, at: usize, judge: &str, message: String) -> CaseDecision {
        let judge = JudgeIdentity { name: judge.into(), ..JudgeIdentity::default() };
        let ungraded = UngradedReason { kind: UngradedKind::NotJudged, message };
        let criterion = self.task.rubric.criteria()[at].clone();
        self.path.place(Decision::ungraded(judge, criterion, ungraded))
    }

    fn rule(&self, panel: &JudgePanel<'_>, at: usize) -> PanelRule {
        panel.rule(&self.task.rubric.criteria()[at].scale)
    }
}

/// The task of a judge for a rubric.
pub(crate) fn rubric_task(
    context: &GradingContext<'_>,
    grader: &RubricGrader,
    probabilities: bool,
) -> RubricTask {
    let item = context.item;
    RubricTask {
        material: Arc::clone(&context.material),
        rubric: Arc::clone(&grader.rubric),
        instructions: grader.instructions.clone(),
        judging: item.judging_override.or(grader.judging).unwrap_or(item.judging),
        evidence: grader.evidence.unwrap_or(item.evidence),
        truncate: item.truncate_override.or(grader.truncate).unwrap_or(item.truncate),
        case_id: item.case.id.to_string(),
        trial: item.trial,
        sampling: SamplingOptions { probabilities, ..SamplingOptions::default() },
    }
}
