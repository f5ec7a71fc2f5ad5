//! Benchmarks of a scorecard on one case: who decides, and the results of checks and people.

use assize_model::{BenchmarkGrader, EvaluatorType, ScoringScale};
use assize_rubric::{
    BenchmarkFinding, BenchmarkState, CaseDecision, DecidedBy, GraderFindingKind, LabelAccount, SeenHash,
    UnitInterval,
};

use super::GradingContext;
use super::behaviour::decide_by_judges;
use super::benchmark_checks::{run_checks, undecided_finding};
use super::path::GraderPath;

pub(super) async fn grade(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> Vec<CaseDecision> {
    let mut decisions = match benchmark.evaluator {
        EvaluatorType::ManualSme => vec![decide_by_labels(path, benchmark)],
        EvaluatorType::Code => vec![decide_by_checks(path, benchmark).await],
        EvaluatorType::LlmJudge | EvaluatorType::Hybrid => decide_by_judges(path, benchmark).await,
    };

    let seen = seen_hash(path, benchmark);
    for decided in decisions.iter_mut().filter(|decided| !decided.is_vote()) {
        if let Some(GraderFindingKind::Benchmark(found)) =
            decided.decision.grader_mut().map(|finding| &mut finding.kind)
        {
            found.seen = seen;
        }
    }

    decisions
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

/// The decision by people's labels: the majority of their latest labels of this very answer. Without such
/// labels, nothing is decided.
fn decide_by_labels(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> CaseDecision {
    let waiting = "waiting for a person".to_owned();
    let mut decided = undecided_finding(path, benchmark, BenchmarkState::Waiting, waiting, Vec::new());
    let item = path.context.item;
    let account = LabelAccount::new(
        &benchmark.labels,
        seen_hash(path, benchmark),
        item.source.name_of_target(),
        benchmark.unbound_labels,
    )
    .with_raters(benchmark.raters);
    let scale = benchmark.scale.as_ref().map(ScoringScale::benchmark_scale);
    decided.decision.apply_labels(account, scale);

    decided
}

/// Hash of the texts that a person sees when labelling this benchmark on this answer.
fn seen_hash(path: &GraderPath<'_>, benchmark: &BenchmarkGrader) -> Option<SeenHash> {
    let GradingContext { item, material, .. } = path.context;
    Some(SeenHash::new(benchmark.subject?, item.source.name_of_target(), &material.answer))
}
