//! Collects the votes of a panel: each judge votes as often as configured, then the stronger judge where they
//! are not sure.

use std::sync::Arc;

use assize_grade::{Judge, JudgeQuestion};
use assize_rubric::{CaseDecision, Decision, EscalationReport, JudgeIdentity, PanelRule, Vote};
use futures_util::future::join_all;

use super::GradingContext;
use super::panel::{combine_decisions, escalation_reason};
use crate::JudgeError;
use crate::panel::JudgePanel;

/// A question to a panel, which leads to one or more decisions.
pub(super) trait PanelQuestion {
    /// Number of decisions that it leads to.
    fn count(&self) -> usize {
        1
    }

    /// The questions to one judge about these decisions.
    fn questions(&self, open: &[usize]) -> Vec<JudgeQuestion>;

    /// The decisions of one judge, derived from its decisions on each question.
    fn decisions(
        &self,
        judge: &JudgeIdentity,
        open: &[usize],
        decided: Vec<Vec<Decision>>,
    ) -> Vec<CaseDecision>;

    /// The decision if the stronger judge could not be asked.
    fn unasked(&self, at: usize, judge: &str, message: String) -> CaseDecision;

    /// The rule that combines votes into a decision.
    fn rule(&self, panel: &JudgePanel<'_>, _at: usize) -> PanelRule {
        panel.combine.unwrap_or(PanelRule::Mean)
    }
}

/// The decisions of a panel on a question, each followed by its votes. A single judge without repeats has no votes,
/// only decisions.
///
/// # Errors
/// If one of the judges can't be found.
pub(super) async fn decide(
    context: &GradingContext<'_>,
    panel: &JudgePanel<'_>,
    question: &impl PanelQuestion,
) -> Result<Vec<CaseDecision>, JudgeError> {
    let judges = panel.members.iter().map(|member| context.item.judges.judge(member.selector));
    let judges: Vec<Arc<dyn Judge>> = judges.collect::<Result<_, _>>()?;
    let all: Vec<usize> = (0..question.count()).collect();
    let answered = join_all(judges.iter().map(|judge| ask_all(&**judge, panel, question, &all))).await;
    if panel.is_single() {
        return Ok(answered.into_iter().flatten().flatten().collect());
    }

    let mut votes: Vec<Vec<CaseDecision>> = vec![Vec::new(); all.len()];
    for ((place, member), repeats) in (1u32..).zip(&panel.members).zip(answered) {
        for (repeat, decided) in (1u32..).zip(repeats) {
            for (vote, votes) in decided.into_iter().zip(&mut votes) {
                let by = Vote { judge: place, repeat, weight: member.weight };
                votes.push(CaseDecision { vote: Some(by), ..vote });
            }
        }
    }

    let escalations = escalate(context, panel, question, &mut votes).await;

    let mut decisions = Vec::new();
    for ((at, votes), escalation) in votes.into_iter().enumerate().zip(escalations) {
        decisions.extend(combine_decisions(&votes, question.rule(panel, at), panel.ties, escalation));
        decisions.extend(votes);
    }

    Ok(decisions)
}

/// The decisions of one judge, one set for each repeat.
async fn ask_all(
    judge: &dyn Judge,
    panel: &JudgePanel<'_>,
    question: &impl PanelQuestion,
    all: &[usize],
) -> Vec<Vec<CaseDecision>> {
    let base = question.questions(all);
    let questions: Vec<JudgeQuestion> = (1..=panel.repeats)
        .flat_map(|repeat| base.iter().map(move |one| ask_repeatedly(one, repeat, panel.temperature)))
        .collect();
    let mut decided = judge.decide(&questions).await.into_iter();
    let identity = judge.identity();

    let repeats = (0..panel.repeats).map(|_| decided.by_ref().take(base.len()).collect());
    repeats.map(|decided| question.decisions(&identity, all, decided)).collect()
}

fn ask_repeatedly(question: &JudgeQuestion, repeat: u32, temperature: Option<f64>) -> JudgeQuestion {
    let mut question = question.clone();
    let sampling = question.sampling_mut();
    sampling.repeat = repeat;
    sampling.temperature = sampling.temperature.or(temperature);
    question
}

/// Asks the stronger judge for the decisions that the panel is not sure of, and adds its votes. Returns a
/// report for each decision.
async fn escalate(
    context: &GradingContext<'_>,
    panel: &JudgePanel<'_>,
    question: &impl PanelQuestion,
    votes: &mut [Vec<CaseDecision>],
) -> Vec<Option<EscalationReport>> {
    let Some((selector, to, when)) = panel.escalate else { return vec![None; votes.len()] };
    let doubts: Vec<Option<String>> = votes.iter().map(|votes| escalation_reason(votes, when)).collect();
    let open: Vec<usize> = (0..votes.len()).filter(|&at| doubts[at].is_some()).collect();

    if !open.is_empty() {
        let decided = match context.item.judges.judge(selector) {
            Ok(judge) => {
                let decided = judge.decide(&question.questions(&open)).await;
                question.decisions(&judge.identity(), &open, decided)
            }
            Err(error) => open.iter().map(|&at| question.unasked(at, to, error.to_string())).collect(),
        };
        for (&at, vote) in open.iter().zip(decided) {
            // The number of criteria in one call of the stronger judge depends on the doubts, not on the file, so it is
            // not recorded.
            votes[at].push(CaseDecision { vote: Some(Vote::ESCALATION), judging: None, ..vote });
        }
    }

    let report = |because| Some(EscalationReport { to: to.to_owned(), when, because });
    doubts.into_iter().map(report).collect()
}
