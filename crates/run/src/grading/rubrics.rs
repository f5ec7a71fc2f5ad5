//! Rubrics: a judge decides criterion by criterion.

use std::sync::Arc;

use assize_grade::RubricTask;
use assize_spec::RubricGrader;
use assize_store::JudgementRow;

use super::Scene;
use super::rows::Spot;

pub(super) async fn grade(scene: &Scene<'_>, spot: &Spot<'_>, grader: &RubricGrader) -> Vec<JudgementRow> {
    let item = scene.item;
    let judge = match item.judges.judge(item.judge_wish(grader.judge.as_deref())) {
        Ok(judge) => judge,
        Err(message) => return vec![spot.broken(scene, message)],
    };
    let decisions = judge.judge(&task(scene, grader)).await;
    let pairs = grader.rubric.criteria().iter().zip(&decisions);
    pairs.map(|(criterion, judgement)| JudgementRow::new(spot.context(scene), criterion, judgement)).collect()
}

/// What a judge is given for a rubric.
pub(crate) fn task(scene: &Scene<'_>, grader: &RubricGrader) -> RubricTask {
    let item = scene.item;
    RubricTask {
        material: Arc::clone(&scene.material),
        rubric: Arc::clone(&grader.rubric),
        judging: item.judging_override.or(grader.judging).unwrap_or(item.judging),
        evidence: grader.evidence.unwrap_or(item.evidence),
        truncate: item.truncate_override.or(grader.truncate).unwrap_or(item.truncate),
        case_id: item.case.id.to_string(),
        repeat: item.repeat,
    }
}
