//! Benchmarks of a scorecard: checks, a judge, or people, on one case.

use std::sync::Arc;

use assize_grade::{BehaviourDecision, BehaviourJudgement, BehaviourTask};
use assize_rubric::{Judgement, LabelOutcome, Settled, Unit, settle_labels};
use assize_spec::{Behaviour, BenchmarkGrader, EvaluatorType};
use assize_store::{BenchmarkRow, BenchmarkState, DecidedBy, GraderResult, JudgementRow, Note};

use super::rows::Spot;
use super::{Scene, grade_at};

pub(super) async fn grade(scene: &Scene<'_>, spot: &Spot<'_>, benchmark: &BenchmarkGrader) -> JudgementRow {
    match benchmark.evaluator {
        EvaluatorType::ManualSme => by_people(scene, spot, benchmark),
        EvaluatorType::Code => by_checks(scene, spot, benchmark).await,
        EvaluatorType::LlmJudge | EvaluatorType::Hybrid => by_judge(scene, spot, benchmark).await,
    }
}

/// What the judge is given, as far as it is known before the answer is.
pub(crate) fn task(scene: &Scene<'_>, behaviour: &Arc<Behaviour>) -> BehaviourTask {
    let material = &scene.material;
    BehaviourTask {
        behaviour: Arc::clone(behaviour),
        ground_truth: material.reference.clone(),
        source_narrative: Some(material.question.clone()).filter(|text| !text.is_empty()),
        candidate_output: material.answer.clone(),
        repeat: scene.item.repeat,
    }
}

/// What the checks of a benchmark came to.
struct Checks {
    /// The share that passes, or the mean of their scores; `None` if there are none.
    score: Option<f64>,
    /// Whether all pass.
    pass: bool,
    notes: Vec<Note>,
    /// What broke the first one that did.
    error: Option<String>,
    reason: String,
}

async fn checks(scene: &Scene<'_>, spot: &Spot<'_>, benchmark: &BenchmarkGrader) -> Checks {
    let mut found = Checks { score: None, pass: true, notes: Vec::new(), error: None, reason: String::new() };
    let mut scores = Vec::new();
    for check in &benchmark.checks {
        let mut path = spot.path.clone();
        path.push(check.name.clone());
        let inner = Spot { top: spot.top, grader: check, standing: check.standing, path };
        for row in grade_at(scene, inner).await {
            let Some(result) = row.grader_result else { continue };
            if let Some(error) = result.error {
                found.error.get_or_insert(format!("check `{}`: {error}", check.name));
                continue;
            }
            // A check that finds nothing to check says nothing.
            let Some(score) = result.score else { continue };
            let score = if check.standing.negate { 1.0 - score } else { score };
            let line = check.standing.min_score.unwrap_or(Unit::ONE);
            let pass = assize_rubric::at_least(score, line.get());
            found.pass &= pass;
            scores.push(score);
            let told: Vec<String> = result
                .notes
                .iter()
                .filter(|note| note.passed != Some(true))
                .map(|note| if note.reason.is_empty() { note.text.clone() } else { note.reason.clone() })
                .collect();
            let reason = if row.reason.is_empty() { told.join("; ") } else { row.reason };
            if !pass && found.reason.is_empty() {
                found.reason =
                    if reason.is_empty() { format!("check `{}` failed", check.name) } else { reason.clone() };
            }
            found.notes.push(Note { text: check.name.clone(), passed: Some(pass), reason, weight: None });
        }
    }
    if !scores.is_empty() {
        found.score = Some(if benchmark.all_must_pass {
            f64::from(u8::from(found.pass))
        } else {
            (scores.iter().sum::<f64>() / scores.len() as f64).clamp(0.0, 1.0)
        });
    }
    found
}

async fn by_checks(scene: &Scene<'_>, spot: &Spot<'_>, benchmark: &BenchmarkGrader) -> JudgementRow {
    if benchmark.checks.is_empty() {
        let message = "the benchmark has no checks".to_owned();
        return undecided(scene, spot, BenchmarkState::Missing, message, Vec::new());
    }
    let found = checks(scene, spot, benchmark).await;
    if let Some(error) = found.error {
        return undecided(scene, spot, BenchmarkState::Missing, error, found.notes);
    }
    let (state, score, pass) = match found.score {
        Some(score) => (BenchmarkState::Scored, Some(score), Some(found.pass)),
        None => (BenchmarkState::NotApplicable, None, None),
    };
    let row = BenchmarkRow { state, pass, raw_score: None, decided_by: Some(DecidedBy::Checks) };
    let result = GraderResult { score, notes: found.notes, benchmark: Some(row), ..GraderResult::default() };
    spot.row(scene, result, found.reason)
}

/// Asks the judge, of a hybrid only where the checks leave something open: what fails a check fails,
/// unless the benchmark may not apply at all, which only the judge can say.
async fn by_judge(scene: &Scene<'_>, spot: &Spot<'_>, benchmark: &BenchmarkGrader) -> JudgementRow {
    let Some(behaviour) = &benchmark.behaviour else {
        let message = "the benchmark has no prompt".to_owned();
        return undecided(scene, spot, BenchmarkState::Missing, message, Vec::new());
    };
    let found = checks(scene, spot, benchmark).await;
    if let Some(error) = found.error {
        return undecided(scene, spot, BenchmarkState::Missing, error, found.notes);
    }
    let failed = |notes: Vec<Note>| GraderResult {
        score: Some(0.0),
        notes,
        benchmark: Some(BenchmarkRow {
            state: BenchmarkState::Scored,
            pass: Some(false),
            raw_score: None,
            decided_by: Some(DecidedBy::Checks),
        }),
        ..GraderResult::default()
    };
    if !found.pass && behaviour.applicability.is_none() {
        return spot.row(scene, failed(found.notes), found.reason);
    }
    let judge = match scene.item.judges.judge(scene.item.judge_wish(None)) {
        Ok(judge) => judge,
        Err(message) => return undecided(scene, spot, BenchmarkState::Missing, message, found.notes),
    };
    let judged = judge.judge_behaviour(&task(scene, behaviour)).await;
    let (mut result, mut reason) = decided(behaviour, &judged);
    if !found.pass && matches!(judged.decision, Some(BehaviourDecision::Applies { .. })) {
        result = failed(Vec::new());
        reason = found.reason;
    }
    result.notes = found.notes;
    let judgement = Judgement {
        reason,
        evidence: judged.evidence,
        confidence: judged.confidence,
        judge: judged.judge,
        ungraded: judged.ungraded,
        attempts: judged.attempts,
        cached_calls: judged.cached_calls,
        tokens: judged.tokens,
        latency_ms: judged.latency_ms,
        cost: judged.cost,
        replies: judged.replies,
        ..spot.nobody()
    };
    JudgementRow::of_grader(spot.context(scene), result, judgement)
}

/// What a judge's decision comes to.
fn decided(behaviour: &Behaviour, judged: &BehaviourJudgement) -> (GraderResult, String) {
    let reason = judged.reason.clone();
    let row = |state, pass, raw_score, score, error| GraderResult {
        score,
        error,
        benchmark: Some(BenchmarkRow { state, pass, raw_score, decided_by: Some(DecidedBy::Judge) }),
        ..GraderResult::default()
    };
    let result = match judged.decision {
        None => {
            let message = judged.ungraded.as_ref().map_or("no reason given", |ungraded| &ungraded.message);
            let mut missing = row(
                BenchmarkState::Missing,
                None,
                None,
                None,
                Some(format!("could not be judged: {message}")),
            );
            if let Some(benchmark) = &mut missing.benchmark {
                benchmark.decided_by = None;
            }
            missing
        }
        Some(BehaviourDecision::NotApplicable) => row(BenchmarkState::NotApplicable, None, None, None, None),
        Some(BehaviourDecision::Applies { uncertain: true, score, .. }) => {
            row(BenchmarkState::Uncertain, Some(false), score, Some(0.0), None)
        }
        Some(BehaviourDecision::Applies { pass, score, .. }) => {
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
    };
    (result, reason)
}

/// What people said: the majority of their last words. Where there is none, nothing is decided.
fn by_people(scene: &Scene<'_>, spot: &Spot<'_>, benchmark: &BenchmarkGrader) -> JudgementRow {
    let said = || {
        let words = benchmark.labels.iter().map(|label| {
            let who = label.reviewer.as_deref().unwrap_or("somebody");
            let note = label.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{who}: {}{note}", outcome_name(label.outcome))
        });
        words.collect::<Vec<_>>().join("; ")
    };
    let labels = benchmark.labels.iter().map(|label| (label.reviewer.as_deref(), label.outcome));
    let (state, pass, raw_score, score) = match settle_labels(labels) {
        Settled::Nothing | Settled::Decided(LabelOutcome::Unsure) => {
            let message = "waits for a person".to_owned();
            return undecided(scene, spot, BenchmarkState::Waiting, message, Vec::new());
        }
        Settled::Differ => {
            let message = format!("reviewers differ: {}", said());
            return undecided(scene, spot, BenchmarkState::ReviewersDiffer, message, Vec::new());
        }
        Settled::Decided(LabelOutcome::NotApplicable) => (BenchmarkState::NotApplicable, None, None, None),
        Settled::Decided(LabelOutcome::Met) => (BenchmarkState::Scored, Some(true), None, Some(1.0)),
        Settled::Decided(LabelOutcome::Unmet) => (BenchmarkState::Scored, Some(false), None, Some(0.0)),
        // A score says nothing about pass or fail of the one case.
        Settled::Decided(LabelOutcome::Score(raw)) => {
            let unit = match &benchmark.scale {
                Some(scale) => scale.formula.apply(raw, scale.min, scale.max),
                None => Unit::new(raw).ok(),
            };
            let Some(unit) = unit else {
                let message = format!("{raw} is not on the scale of the benchmark");
                return undecided(scene, spot, BenchmarkState::Missing, message, Vec::new());
            };
            (BenchmarkState::Scored, None, Some(raw), Some(unit.get()))
        }
    };
    let row = BenchmarkRow { state, pass, raw_score, decided_by: Some(DecidedBy::Person) };
    let result = GraderResult { score, benchmark: Some(row), ..GraderResult::default() };
    spot.row(scene, result, said())
}

fn outcome_name(outcome: LabelOutcome) -> String {
    match outcome {
        LabelOutcome::Met => "pass".to_owned(),
        LabelOutcome::Unmet => "fail".to_owned(),
        LabelOutcome::NotApplicable => "not applicable".to_owned(),
        LabelOutcome::Unsure => "unsure".to_owned(),
        LabelOutcome::Score(score) => score.to_string(),
    }
}

fn undecided(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    state: BenchmarkState,
    message: String,
    notes: Vec<Note>,
) -> JudgementRow {
    let row = BenchmarkRow { state, pass: None, raw_score: None, decided_by: None };
    let result =
        GraderResult { error: Some(message), notes, benchmark: Some(row), ..GraderResult::default() };
    spot.row(scene, result, String::new())
}
