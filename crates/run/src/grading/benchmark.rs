//! Benchmarks of a scorecard on one case: who decides, and what checks and people say.

use assize_evalfile::{BenchmarkGrader, EvaluatorType, ScoringScale};
use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, DecidedBy, GraderNote, LabelOutcome, LabelScore,
    SettledLabels, UnitInterval, settle_labels,
};

use super::behaviour::decide_by_judges;
use super::grade_at;
use super::path::GraderPath;

pub(super) async fn grade(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> Vec<CaseDecision> {
    match benchmark.evaluator {
        EvaluatorType::ManualSme => vec![decide_by_labels(path, benchmark)],
        EvaluatorType::Code => vec![decide_by_checks(path, benchmark).await],
        EvaluatorType::LlmJudge | EvaluatorType::Hybrid => decide_by_judges(path, benchmark).await,
    }
}

/// Results of the checks of a benchmark.
pub(super) struct CheckSummary {
    /// The share that passes, or the mean of their scores; `None` if there are none.
    pub(super) score: Option<f64>,
    /// True if all pass.
    pub(super) pass: bool,
    pub(super) notes: Vec<GraderNote>,
    /// Error of the first check that broke.
    pub(super) error: Option<String>,
    pub(super) reason: String,
}

pub(super) async fn run_checks(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> CheckSummary {
    let mut found =
        CheckSummary { score: None, pass: true, notes: Vec::new(), error: None, reason: String::new() };
    let mut scores = Vec::new();
    for check in &benchmark.checks {
        for decided in grade_at(path.to_member(check, check.standing)).await {
            let Some(result) = decided.finding() else { continue };
            let score = match &result.score {
                Err(error) => {
                    found.error.get_or_insert(format!("check `{}`: {error}", check.name));
                    continue;
                }
                // A check that finds nothing to check says nothing.
                Ok(None) => continue,
                Ok(Some(score)) => score.get(),
            };

            let score = if check.standing.negate { 1.0 - score } else { score };
            let line = check.standing.min_score.unwrap_or(UnitInterval::ONE);
            let pass = assize_rubric::at_least(score, line.get());
            found.pass &= pass;
            scores.push(score);

            let told: Vec<String> = result
                .notes
                .iter()
                .filter(|note| note.passed != Some(true))
                .map(|note| if note.reason.is_empty() { note.text.clone() } else { note.reason.clone() })
                .collect();

            let own = &decided.decision.reason;
            let reason = if own.is_empty() { told.join("; ") } else { own.clone() };
            if !pass && found.reason.is_empty() {
                found.reason =
                    if reason.is_empty() { format!("check `{}` failed", check.name) } else { reason.clone() };
            }

            found.notes.push(GraderNote {
                text: check.name.clone(),
                passed: Some(pass),
                reason,
                weight: None,
            });
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

async fn decide_by_checks(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> CaseDecision {
    if benchmark.checks.is_empty() {
        let message = "the benchmark has no checks".to_owned();
        return undecided_finding(path, benchmark, BenchmarkState::Missing, message, Vec::new());
    }

    let found = run_checks(path, benchmark).await;
    if let Some(error) = found.error {
        return undecided_finding(path, benchmark, BenchmarkState::Missing, error, found.notes);
    }

    let state = if found.score.is_some() { BenchmarkState::Scored } else { BenchmarkState::NotApplicable };
    let finding = BenchmarkFinding {
        pass: found.score.map(|_| found.pass),
        decided_by: Some(DecidedBy::Checks),
        ..BenchmarkFinding::undecided(state, benchmark.scale.is_some())
    };

    let score = found.score.and_then(|score| UnitInterval::new(score).ok());
    path.own_decision(finding.with_score(Ok(score), found.notes), found.reason)
}

/// Decision by people's labels: the majority of their last words. Where there is none, nothing is decided.
fn decide_by_labels(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> CaseDecision {
    let said = || {
        let words = benchmark.labels.iter().map(|label| {
            let who = label.reviewer.as_deref().unwrap_or("somebody");
            let note = label.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{who}: {}{note}", outcome_name(label.outcome))
        });
        words.collect::<Vec<_>>().join("; ")
    };

    let open = |state, message| undecided_finding(path, benchmark, state, message, Vec::new());
    let labels = benchmark.labels.iter().map(|label| (label.reviewer.as_deref(), label.outcome));
    let scale = benchmark.scale.as_ref().map(ScoringScale::benchmark_scale);
    let waiting = || open(BenchmarkState::Waiting, "waits for a person".to_owned());

    let label = match settle_labels(labels) {
        SettledLabels::Nothing => return waiting(),
        SettledLabels::Differ => {
            return open(BenchmarkState::ReviewersDiffer, format!("reviewers differ: {}", said()));
        }
        SettledLabels::Decided(label) => label,
    };

    let (state, score) = match LabelScore::new(label, scale) {
        LabelScore::Undecided => return waiting(),
        LabelScore::OffScale(raw) => {
            return open(BenchmarkState::Missing, format!("{raw} is not on the scale of the benchmark"));
        }
        LabelScore::NotApplicable => (BenchmarkState::NotApplicable, None),
        LabelScore::Score(score) => (BenchmarkState::Scored, Some(score)),
    };
    // A score says nothing about pass or fail of the one case.
    let (pass, raw_score) = match label {
        LabelOutcome::Met => (Some(true), None),
        LabelOutcome::Unmet => (Some(false), None),
        LabelOutcome::Score(raw) => (None, Some(raw)),
        LabelOutcome::NotApplicable | LabelOutcome::Unsure => (None, None),
    };

    let finding = BenchmarkFinding {
        pass,
        raw_score,
        decided_by: Some(DecidedBy::Person),
        ..BenchmarkFinding::undecided(state, scale.is_some())
    };
    path.own_decision(finding.with_score(Ok(score), Vec::new()), said())
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

pub(super) fn undecided_finding(
    path: &GraderPath<'_>,
    benchmark: &BenchmarkGrader,
    state: BenchmarkState,
    message: String,
    notes: Vec<GraderNote>,
) -> CaseDecision {
    let finding = BenchmarkFinding::undecided(state, benchmark.scale.is_some());
    path.own_decision(finding.with_score(Err(message), notes), String::new())
}
