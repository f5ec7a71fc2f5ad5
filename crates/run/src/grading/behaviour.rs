//! Benchmarks that judges decide: one judge, several, or one after the checks of a hybrid.

use std::borrow::Cow;
use std::sync::Arc;

use assize_evalfile::{Behaviour, BenchmarkGrader, PanelSpec};
use assize_grade::{BehaviourDecision, BehaviourJudgement, BehaviourTask, RubricJudge};
use assize_rubric::{PanelRule, Ungraded, Unit};
use assize_store::{
    BenchmarkRow, BenchmarkState, DecidedBy, EscalationRow, GraderResult, JudgementRow, Note, VoteRow,
};
use futures_util::future::join_all;

use super::Scene;
use super::benchmark::{Checks, benchmark_row, checks, undecided};
use super::panel::{combined, doubt, vote};
use super::rows::{Spot, not_judged};
use crate::panel::Panel;

/// What is said about the panel of a benchmark: its files say nothing.
pub(crate) fn panel_spec<'a>(scene: &Scene<'a>) -> Cow<'a, PanelSpec> {
    scene.item.panels.spec(&PanelSpec::default(), None)
}

/// What a judge is given, as far as it is known before the answer is.
pub(crate) fn task(scene: &Scene<'_>, behaviour: &Arc<Behaviour>) -> BehaviourTask {
    let material = &scene.material;
    BehaviourTask {
        behaviour: Arc::clone(behaviour),
        ground_truth: material.reference.clone(),
        source_narrative: Some(material.question.clone()).filter(|text| !text.is_empty()),
        candidate_output: material.answer.clone(),
        repeat: scene.item.repeat,
        asking: 1,
        temperature: None,
    }
}

/// A benchmark, what is asked about it, and what is known without a judge.
struct Asked<'a> {
    scene: &'a Scene<'a>,
    spot: &'a Spot<'a>,
    benchmark: &'a BenchmarkGrader,
    behaviour: &'a Arc<Behaviour>,
}

/// Asks the judges, of a hybrid only where the checks leave something open: what fails a check fails,
/// unless the benchmark may not apply at all, which only a judge can say. Of several judges the row that
/// combines their votes stands before them.
pub(super) async fn by_judges(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    benchmark: &BenchmarkGrader,
) -> Vec<JudgementRow> {
    let missing = |message: String, notes: Vec<Note>| {
        vec![undecided(scene, spot, benchmark, BenchmarkState::Missing, message, notes)]
    };
    let Some(behaviour) = &benchmark.behaviour else {
        return missing("the benchmark has no prompt".to_owned(), Vec::new());
    };
    let found = checks(scene, spot, benchmark).await;
    if let Some(error) = found.error {
        return missing(error, found.notes);
    }
    if !found.pass && behaviour.applicability.is_none() {
        return vec![spot.row(scene, failed(benchmark, found.notes), found.reason)];
    }
    let spec = panel_spec(scene);
    let panel = Panel::new(&spec, scene.item.judge_wish(None));
    let mut judges = Vec::with_capacity(panel.members.len());
    for member in &panel.members {
        match scene.item.judges.judge(member.wish) {
            Ok(judge) => judges.push(judge),
            Err(message) => return missing(message, found.notes),
        }
    }
    let asked = Asked { scene, spot, benchmark, behaviour };
    let mut rows = asked.votes(&panel, &judges).await;
    if panel.is_single() {
        rows = rows.into_iter().map(|row| JudgementRow { vote: None, ..row }).collect();
    } else {
        let escalation = asked.escalate(&panel, &mut rows).await;
        // What lies on a scale is averaged, a pass or fail is voted on.
        let usual = if benchmark.scale.is_some() { PanelRule::Mean } else { PanelRule::Majority };
        let row = combined(&rows, panel.combine.unwrap_or(usual), panel.ties, escalation);
        rows = row.into_iter().chain(rows).collect();
    }
    if let Some(decision) = rows.first_mut() {
        with_checks(decision, benchmark, found);
    }
    rows
}

impl Asked<'_> {
    /// The votes of all judges, each as often as it is asked.
    async fn votes(&self, panel: &Panel<'_>, judges: &[Arc<dyn RubricJudge>]) -> Vec<JudgementRow> {
        let mut calls = Vec::new();
        for ((place, member), judge) in (1u32..).zip(&panel.members).zip(judges) {
            for repeat in 1..=panel.repeats {
                let task = BehaviourTask {
                    asking: repeat,
                    temperature: panel.temperature,
                    ..task(self.scene, self.behaviour)
                };
                let vote = VoteRow { judge: place, repeat, weight: member.weight };
                calls.push(async move { (vote, judge.judge_behaviour(&task).await) });
            }
        }
        let decided = join_all(calls).await.into_iter();
        decided.map(|(vote, judged)| JudgementRow { vote: Some(vote), ..self.row(judged) }).collect()
    }

    /// Asks the stronger judge if the others are not sure, and adds its vote.
    async fn escalate(&self, panel: &Panel<'_>, votes: &mut Vec<JudgementRow>) -> Option<EscalationRow> {
        let (wish, to, when) = panel.escalate?;
        let because = doubt(&votes.iter().collect::<Vec<_>>(), when);
        if because.is_some() {
            let row = match self.scene.item.judges.judge(wish) {
                Ok(judge) => self.row(judge.judge_behaviour(&task(self.scene, self.behaviour)).await),
                Err(message) => undecided(
                    self.scene,
                    self.spot,
                    self.benchmark,
                    BenchmarkState::Missing,
                    message,
                    Vec::new(),
                ),
            };
            votes.push(vote(row));
        }
        Some(EscalationRow { to: to.to_owned(), when: when.name().to_owned(), because })
    }

    /// The row of what a judge decided.
    fn row(&self, judged: BehaviourJudgement) -> JudgementRow {
        let (decision, judgement) = self.spot.judgement(judged);
        let result = decided(self.benchmark, self.behaviour, decision);
        let mut row = JudgementRow::of_grader(self.spot.context(self.scene), result, judgement);
        row.criterion.may_not_apply = self.behaviour.applicability.is_some();
        row
    }
}

/// What a failed check of a hybrid comes to.
fn failed(benchmark: &BenchmarkGrader, notes: Vec<Note>) -> GraderResult {
    GraderResult {
        score: Some(0.0),
        notes,
        benchmark: Some(BenchmarkRow {
            pass: Some(false),
            decided_by: Some(DecidedBy::Checks),
            ..benchmark_row(benchmark, BenchmarkState::Scored)
        }),
        ..GraderResult::default()
    }
}

/// Puts what the checks of a hybrid found beside the decision. Where a check failed and the benchmark
/// applies, that is the decision.
fn with_checks(decision: &mut JudgementRow, benchmark: &BenchmarkGrader, found: Checks) {
    let applies =
        matches!(decision.benchmark_state(), Some(BenchmarkState::Scored | BenchmarkState::Uncertain));
    if !found.pass && applies {
        decision.grader_result = Some(failed(benchmark, found.notes));
        decision.reason = found.reason;
    } else if let Some(result) = &mut decision.grader_result {
        result.notes = found.notes;
    }
}

/// What a judge's decision comes to.
fn decided(
    benchmark: &BenchmarkGrader,
    behaviour: &Behaviour,
    decision: Result<BehaviourDecision, Ungraded>,
) -> GraderResult {
    let row = |state, pass, raw_score, score, error| GraderResult {
        score,
        error,
        benchmark: Some(BenchmarkRow {
            pass,
            raw_score,
            decided_by: Some(DecidedBy::Judge),
            ..benchmark_row(benchmark, state)
        }),
        ..GraderResult::default()
    };
    match decision {
        Err(ungraded) => GraderResult {
            error: Some(not_judged(&ungraded)),
            benchmark: Some(benchmark_row(benchmark, BenchmarkState::Missing)),
            ..GraderResult::default()
        },
        Ok(BehaviourDecision::NotApplicable) => row(BenchmarkState::NotApplicable, None, None, None, None),
        Ok(BehaviourDecision::Applies { uncertain: true, score, .. }) => {
            row(BenchmarkState::Uncertain, Some(false), score, Some(0.0), None)
        }
        Ok(BehaviourDecision::Applies { pass, score, .. }) => {
            let unit = match (score, &behaviour.scale) {
                (None, _) => Some(f64::from(u8::from(pass))),
                (Some(raw), None) => Some(raw),
                (Some(raw), Some(scale)) => scale.formula.apply(raw, scale.min, scale.max).map(Unit::get),
            };
            if unit.is_some() {
                row(BenchmarkState::Scored, Some(pass), score, unit, None)
            } else {
                let error = "the score can't be brought to 0 to 1 by the formula".to_owned();
                row(BenchmarkState::Missing, None, score, None, Some(error))
            }
        }
    }
}
