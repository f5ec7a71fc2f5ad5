//! Graders whose result is one score: by one judge, or as many votes as their panel casts.

use std::sync::Arc;

use assize_evalfile::PanelSpec;
use assize_grade::RubricJudge;
use assize_rubric::PanelRule;
use assize_store::{EscalationRow, JudgementRow, VoteRow};
use futures_util::future::join_all;

use super::Scene;
use super::panel::{combined, doubt, vote};
use super::rows::Spot;
use crate::panel::Panel;

/// The row of the score, and where several judges gave one, those of their votes after it. `ask` puts the question to a
/// judge: at which temperature, and how many times with this one.
pub(super) async fn grade<A: Future<Output = JudgementRow>>(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    own: &PanelSpec,
    named: Option<&str>,
    ask: impl Fn(Arc<dyn RubricJudge>, Option<f64>, u32) -> A,
) -> Vec<JudgementRow> {
    let item = scene.item;
    let spec = item.panels.spec(own, named);
    let panel = Panel::new(&spec, item.judge_wish(named));
    let mut calls = Vec::new();
    for (place, member) in (1u32..).zip(&panel.members) {
        let judge = match item.judges.judge(member.wish) {
            Ok(judge) => judge,
            Err(message) => return vec![spot.broken(scene, message)],
        };
        for repeat in 1..=panel.repeats {
            let vote = VoteRow { judge: place, repeat, weight: member.weight };
            let asked = ask(Arc::clone(&judge), panel.temperature, repeat);
            calls.push(async move { JudgementRow { vote: Some(vote), ..asked.await } });
        }
    }
    let mut votes: Vec<JudgementRow> = join_all(calls).await;
    if panel.is_single() {
        return votes.into_iter().map(|row| JudgementRow { vote: None, ..row }).collect();
    }
    let mut escalation = None;
    if let Some((wish, to, when)) = panel.escalate {
        let because = doubt(&votes.iter().collect::<Vec<_>>(), when);
        if because.is_some() {
            let row = match item.judges.judge(wish) {
                Ok(judge) => ask(judge, None, 1).await,
                Err(message) => spot.broken(scene, message),
            };
            votes.push(vote(row));
        }
        escalation = Some(EscalationRow { to: to.to_owned(), when: when.name().to_owned(), because });
    }
    let rule = panel.combine.unwrap_or(PanelRule::Mean);
    combined(&votes, rule, panel.ties, escalation).into_iter().chain(votes).collect()
}
