//! Benchmarks of a scorecard on one case: who decides, and what checks and people say.

use assize_evalfile::{BenchmarkGrader, EvaluatorType, ScoringScale};
use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, DecidedBy, LabelOutcome, LabelScore, SettledLabels,
    UnitInterval, settle_labels,
};

use super::behaviour::decide_by_judges;
use super::benchmark_checks::{run_checks, undecided_finding};
use super::path::GraderPath;

pub(super) async fn grade(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> Vec<CaseDecision> {
    match benchmark.evaluator {
        EvaluatorType::ManualSme => vec![decide_by_labels(path, benchmark)],
        EvaluatorType::Code => vec![decide_by_checks(path, benchmark).await],
        EvaluatorType::LlmJudge | EvaluatorType::Hybrid => decide_by_judges(path, benchmark).await,
    }
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
