//! Benchmarks of a scorecard on one case: who decides, and what checks and people say.

use std::sync::Arc;

use assize_evalfile::{BenchmarkGrader, EvaluatorType};
use assize_rubric::{LabelOutcome, Settled, Unit, settle_labels};
use assize_store::{BenchmarkRow, BenchmarkState, DecidedBy, GraderResult, JudgementRow, Note};

use super::behaviour::by_judges;
use super::rows::Spot;
use super::{Scene, grade_at};

pub(super) async fn grade(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    benchmark: &BenchmarkGrader,
) -> Vec<JudgementRow> {
    match benchmark.evaluator {
        EvaluatorType::ManualSme => vec![by_people(scene, spot, benchmark)],
        EvaluatorType::Code => vec![by_checks(scene, spot, benchmark).await],
        EvaluatorType::LlmJudge | EvaluatorType::Hybrid => by_judges(scene, spot, benchmark).await,
    }
}

/// A row about a benchmark on which nobody decided anything yet.
pub(super) fn benchmark_row(benchmark: &BenchmarkGrader, state: BenchmarkState) -> BenchmarkRow {
    BenchmarkRow { state, pass: None, raw_score: None, scaled: benchmark.scale.is_some(), decided_by: None }
}

/// What the checks of a benchmark came to.
pub(super) struct Checks {
    /// The share that passes, or the mean of their scores; `None` if there are none.
    pub(super) score: Option<f64>,
    /// Whether all pass.
    pub(super) pass: bool,
    pub(super) notes: Vec<Note>,
    /// What broke the first one that did.
    pub(super) error: Option<String>,
    pub(super) reason: String,
}

pub(super) async fn checks(scene: &Scene<'_>, spot: &Spot<'_>, benchmark: &BenchmarkGrader) -> Checks {
    let mut found = Checks { score: None, pass: true, notes: Vec::new(), error: None, reason: String::new() };
    let mut scores = Vec::new();
    for check in &benchmark.checks {
        let mut path = spot.path.clone();
        path.push(check.name.clone());
        let inner = Spot { top: Arc::clone(&spot.top), grader: check, standing: check.standing, path };
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
        return undecided(scene, spot, benchmark, BenchmarkState::Missing, message, Vec::new());
    }
    let found = checks(scene, spot, benchmark).await;
    if let Some(error) = found.error {
        return undecided(scene, spot, benchmark, BenchmarkState::Missing, error, found.notes);
    }
    let (state, score, pass) = match found.score {
        Some(score) => (BenchmarkState::Scored, Some(score), Some(found.pass)),
        None => (BenchmarkState::NotApplicable, None, None),
    };
    let row = BenchmarkRow { decided_by: Some(DecidedBy::Checks), pass, ..benchmark_row(benchmark, state) };
    let result = GraderResult { score, notes: found.notes, benchmark: Some(row), ..GraderResult::default() };
    spot.row(scene, result, found.reason)
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
            return undecided(scene, spot, benchmark, BenchmarkState::Waiting, message, Vec::new());
        }
        Settled::Differ => {
            let message = format!("reviewers differ: {}", said());
            return undecided(scene, spot, benchmark, BenchmarkState::ReviewersDiffer, message, Vec::new());
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
                return undecided(scene, spot, benchmark, BenchmarkState::Missing, message, Vec::new());
            };
            (BenchmarkState::Scored, None, Some(raw), Some(unit.get()))
        }
    };
    let row = BenchmarkRow {
        pass,
        raw_score,
        decided_by: Some(DecidedBy::Person),
        ..benchmark_row(benchmark, state)
    };
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

pub(super) fn undecided(
    scene: &Scene<'_>,
    spot: &Spot<'_>,
    benchmark: &BenchmarkGrader,
    state: BenchmarkState,
    message: String,
    notes: Vec<Note>,
) -> JudgementRow {
    let row = benchmark_row(benchmark, state);
    let result =
        GraderResult { error: Some(message), notes, benchmark: Some(row), ..GraderResult::default() };
    spot.row(scene, result, String::new())
}
