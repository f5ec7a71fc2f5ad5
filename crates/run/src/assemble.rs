//! Builds a result row from stored decisions. Used by the engine and by every later recomputation, so that a
//! score is always a function of its decisions.

use std::sync::Arc;

use assize_rubric::{
    CaseDecision, Cost, GraderOutcome, GraderWeighting, VerdictThresholds, grader_gates, grader_outcome,
    member_score, score_case,
};
use assize_store::{GateRow, GraderRow, MetricScore, ResultRow, criterion_rows};

/// A case before it is scored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CaseHead {
    /// Its row without scores. It has the target's tokens, and the judges' tokens are added later. Metrics have no
    /// score yet.
    pub(crate) row: ResultRow,
    /// Cost of the target (judges' costs are added).
    pub(crate) cost: Cost,
}

/// One grader's decisions, ready to be scored.
#[derive(Debug, Clone)]
pub(crate) struct GraderDecisions<'a> {
    pub(crate) name: &'a str,
    pub(crate) type_name: &'a str,
    pub(crate) weighting: GraderWeighting,
    /// Hash of its settings; `None` if unknown.
    pub(crate) settings: Option<String>,
    /// Its decisions: one per criterion in the rubric's order, or one for the whole grader followed by the decisions of
    /// its members.
    pub(crate) decisions: Vec<&'a CaseDecision>,
}

/// Scores a case from its decisions. Without any grader, because there was no answer to grade, the case is
/// incomplete and its score is unknown.
pub(crate) fn assemble(
    head: CaseHead,
    graders: &[GraderDecisions<'_>],
    thresholds: VerdictThresholds,
) -> ResultRow {
    let outcomes: Vec<(GraderWeighting, GraderOutcome)> = graders
        .iter()
        .map(|grader| {
            (
                grader.weighting,
                grader_outcome(&grader.decisions, thresholds).unwrap_or(GraderOutcome::Errored),
            )
        })
        .collect();

    let case = score_case(&outcomes, thresholds);
    let mut gates_failed = Vec::new();
    let mut rows = Vec::with_capacity(graders.len());
    let CaseHead { row, mut cost } = head;
    let mut tokens = row.tokens;
    for ((grader, score), (_, outcome)) in graders.iter().zip(&case.graders).zip(&outcomes) {
        let gates = grader_gates(&grader.decisions, 0, grader.weighting, outcome, score, thresholds);
        gates_failed.extend(gates.into_iter().filter_map(|gate| GateRow::for_failed_gate(gate, grader.name)));

        for decided in &grader.decisions {
            tokens.add(decided.decision.spent.tokens);
            cost += decided.decision.spent.cost;
        }

        rows.push(GraderRow {
            name: grader.name.to_owned(),
            type_name: grader.type_name.to_owned(),
            weight: grader.weighting.weight.get(),
            negate: grader.weighting.negate,
            settings: grader.settings.clone(),
            score: score.score,
            verdict: score.verdict,
            error: case_error_of(grader, outcome),
            criteria: criterion_rows(&grader.decisions),
            pairwise: grader
                .decisions
                .iter()
                .filter_map(|decided| decided.finding()?.comparison().cloned())
                .collect(),
        });
    }

    ResultRow {
        metrics: row.metrics.iter().map(|metric| metric_score(metric, graders, thresholds)).collect(),
        score: case.score,
        score_low: case.bounds.map(|(low, _)| low),
        score_high: case.bounds.map(|(_, high)| high),
        coverage: case.coverage,
        verdict: if row.error.is_some() { case.verdict.after_error() } else { case.verdict },
        gates_failed,
        graders: rows,
        tokens,
        cost_usd: cost.total(),
        cost_partial: cost.to_partial(),
        ..row
    }
}

/// The score that counts for a metric. Unknown if there is no answer, or the grader failed to run.
fn metric_score(
    metric: &MetricScore,
    graders: &[GraderDecisions<'_>],
    thresholds: VerdictThresholds,
) -> MetricScore {
    let (name, path) = (Arc::clone(&metric.name), metric.grader.clone());
    let found = path.split_first().and_then(|(first, members)| {
        let grader = graders.iter().find(|grader| grader.name == *first)?;
        member_score(&grader.decisions, 0, grader.weighting, members, thresholds)
    });
    let Some((score, weight)) = found else {
        return MetricScore { name, grader: path, weight: 1.0, score: None, bounds: Some([0.0, 1.0]) };
    };

    let bounds = score.bounds.filter(|_| score.score.is_none()).map(|(low, high)| [low, high]);
    MetricScore { name, grader: path, weight, score: score.score, bounds }
}

fn case_error_of(grader: &GraderDecisions<'_>, outcome: &GraderOutcome) -> Option<String> {
    let stored = grader.decisions.first().and_then(|decided| decided.finding()?.error());
    stored.map(str::to_owned).or_else(|| {
        (*outcome == GraderOutcome::Errored).then(|| "the decisions do not fit the rubric".to_owned())
    })
}
