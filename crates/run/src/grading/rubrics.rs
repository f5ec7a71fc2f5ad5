//! Rubrics: a judge decides criterion by criterion, or several do.

use std::sync::Arc;

use assize_evalfile::RubricGrader;
use assize_grade::{Asking, RubricTask};
use assize_rubric::{Criterion, Gate, Rubric, Weight};
use assize_store::{EscalationRow, JudgementRow, VoteRow};
use futures_util::future::join_all;

use super::Scene;
use super::panel::{combined, doubt, vote};
use super::rows::Spot;
use crate::panel::Panel;

pub(super) async fn grade(scene: &Scene<'_>, spot: &Spot<'_>, grader: &RubricGrader) -> Vec<JudgementRow> {
    let item = scene.item;
    let spec = item.panels.spec(&grader.panel, grader.judge.as_deref());
    let panel = Panel::new(&spec, item.judge_wish(grader.judge.as_deref()));
    let criteria = grader.rubric.criteria();
    let tasks: Vec<RubricTask> =
        (1..=panel.repeats).map(|repeat| task(scene, grader, asking(&panel, repeat))).collect();
    let judging: Option<Arc<str>> = tasks.first().map(|task| task.judging.to_string().into());
    let mut judges = Vec::with_capacity(panel.members.len());
    for member in &panel.members {
        match item.judges.judge(member.wish) {
            Ok(judge) => judges.push(judge),
            Err(message) => return vec![spot.broken(scene, message)],
        }
    }
    let asked = join_all(judges.iter().map(|judge| judge.judge_all(&tasks))).await;
    let row = |criterion, judgement, vote| JudgementRow {
        vote,
        judging: judging.clone(),
        ..JudgementRow::new(spot.context(scene), criterion, judgement)
    };
    if panel.is_single() {
        let decisions = asked.into_iter().flatten().flatten();
        return criteria.iter().zip(decisions).map(|(criterion, said)| row(criterion, said, None)).collect();
    }
    let mut votes: Vec<Vec<JudgementRow>> = vec![Vec::new(); criteria.len()];
    for ((place, member), repeats) in (1u32..).zip(&panel.members).zip(asked) {
        for (repeat, decisions) in (1u32..).zip(repeats) {
            for ((criterion, judgement), votes) in criteria.iter().zip(decisions).zip(&mut votes) {
                let vote = VoteRow { judge: place, repeat, weight: member.weight };
                votes.push(row(criterion, judgement, Some(vote)));
            }
        }
    }
    let escalations = escalate(scene, spot, grader, &panel, &mut votes).await;
    let mut rows = Vec::new();
    for ((criterion, votes), escalation) in criteria.iter().zip(votes).zip(escalations) {
        rows.extend(combined(&votes, panel.rule(&criterion.scale), panel.ties, escalation));
        rows.extend(votes);
    }
    rows
}

/// Asks the stronger judge about the criteria the panel is not sure of, and adds its votes. What became of each
/// criterion, in the rubric's order.
async fn escalate(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    grader: &RubricGrader,
    panel: &Panel<'_>,
    votes: &mut [Vec<JudgementRow>],
) -> Vec<Option<EscalationRow>> {
    let Some((wish, to, when)) = panel.escalate else { return vec![None; votes.len()] };
    let doubts: Vec<Option<String>> =
        votes.iter().map(|votes| doubt(&votes.iter().collect::<Vec<_>>(), when)).collect();
    let open: Vec<usize> = (0..votes.len()).filter(|&at| doubts[at].is_some()).collect();
    let criteria = grader.rubric.criteria();
    // Weights and gates are nothing to a judge, and some of them need not be enough for a rubric.
    let asked =
        open.iter().map(|&at| Criterion { weight: Weight::ONE, gate: None::<Gate>, ..criteria[at].clone() });
    if !open.is_empty()
        && let Ok(rubric) = Rubric::new(asked.collect())
    {
        match scene.item.judges.judge(wish) {
            Ok(judge) => {
                let asking = Asking { probabilities: panel.probabilities, ..Asking::default() };
                let task = RubricTask { rubric: Arc::new(rubric), ..task(scene, grader, asking) };
                let decisions = judge.judge(&task).await;
                for (&at, judgement) in open.iter().zip(decisions) {
                    votes[at].push(vote(JudgementRow::new(spot.context(scene), &criteria[at], judgement)));
                }
            }
            Err(message) => {
                for &at in &open {
                    let row = spot.unjudged(scene, &criteria[at], to, &message);
                    votes[at].push(vote(row));
                }
            }
        }
    }
    doubts
        .into_iter()
        .map(|because| Some(EscalationRow { to: to.to_owned(), when: when.name().to_owned(), because }))
        .collect()
}

/// How the judges of a panel are asked for the given time.
pub(crate) fn asking(panel: &Panel<'_>, repeat: u32) -> Asking {
    Asking { repeat, temperature: panel.temperature, probabilities: panel.probabilities }
}

/// What a judge is given for a rubric.
pub(crate) fn task(scene: &Scene<'_>, grader: &RubricGrader, asking: Asking) -> RubricTask {
    let item = scene.item;
    RubricTask {
        material: Arc::clone(&scene.material),
        rubric: Arc::clone(&grader.rubric),
        judging: item.judging_override.or(grader.judging).unwrap_or(item.judging),
        evidence: grader.evidence.unwrap_or(item.evidence),
        truncate: item.truncate_override.or(grader.truncate).unwrap_or(item.truncate),
        case_id: item.case.id.to_string(),
        repeat: item.repeat,
        asking,
    }
}
