//! Builds a result row from stored decisions. Used by the engine and by every later recomputation, so that a
//! score is always a function of its decisions.

use std::sync::Arc;

use assize_model::NamedMetric;
use assize_rubric::{
    CaseDecision, Cost, GraderOutcome, GraderWeighting, Tokens, TrialPlan, VerdictThresholds, grader_gates,
    grader_outcome, member_score, score_case,
};
use assize_store::{
    CaseError, CaseKey, GateRow, GraderRow, MetricScore, ResultRow, ToolCallRow, TurnRow, criterion_rows,
};

/// The data of a result row besides its scores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CaseHead {
    /// Eval-file format.
    pub(crate) format: Option<u8>,
    /// The case.
    pub(crate) key: CaseKey,
    /// Name of the fallback that answered for the target.
    pub(crate) answered_by: Option<String>,
    /// Position among the items of the run.
    pub(crate) place: Option<u64>,
    /// The trials of its case, if it has several.
    pub(crate) trials: Option<TrialPlan>,
    /// The case's tags.
    pub(crate) tags: Vec<String>,
    /// The case's cluster.
    pub(crate) cluster: Option<String>,
    /// Id of the test, if it makes several cases.
    pub(crate) test: Option<Arc<str>>,
    /// Name of the prompt, if its file has several.
    pub(crate) prompt: Option<Arc<str>>,
    /// Graders whose scores count for metrics.
    pub(crate) metrics: Vec<NamedMetric>,
    /// Hash of the question.
    pub(crate) case_hash: Option<String>,
    /// The answer.
    pub(crate) answer: Option<String>,
    /// The turns of a conversation.
    pub(crate) turns: Vec<TurnRow>,
    /// Changes to files while it was answered.
    pub(crate) file_changes: Option<String>,
    /// Tools that the target called.
    pub(crate) tool_calls: Vec<ToolCallRow>,
    /// The number of further calls, which are not listed.
    pub(crate) tool_calls_dropped: usize,
    /// Why there is no answer or no grading.
    pub(crate) error: Option<CaseError>,
    /// Tokens of the target (judges' tokens are added).
    pub(crate) tokens: Tokens,
    /// Cost of the target (judges' costs are added).
    pub(crate) cost: Cost,
    /// Time taken, in milliseconds.
    pub(crate) duration_ms: u64,
}

/// One grader's decisions, ready to be scored.
#[derive(Debug, Clone)]
pub(crate) struct GraderDecisions<'a> {
    pub(crate) name: &'a str,
    pub(crate) type_name: &'a str,
    pub(crate) standing: GraderWeighting,
    /// Hash of its settings; `None` if unknown.
    pub(crate) settings: Option<String>,
    /// Its decisions: one per criterion in the rubric's order, or one for the grader as a whole followed by
    /// those of its members.
    pub(crate) decisions: Vec<&'a CaseDecision>,
}

/// Scores a case from its decisions. Without any grader, because there was no answer to grade, the case is
/// incomplete and its score is unknown.
pub(crate) fn assemble(
    head: CaseHead,
    graders: &[GraderDecisions<'_>],
    lines: VerdictThresholds,
) -> ResultRow {
    let outcomes: Vec<(GraderWeighting, GraderOutcome)> = graders
        .iter()
        .map(|grader| {
            (grader.standing, grader_outcome(&grader.decisions, lines).unwrap_or(GraderOutcome::Errored))
        })
        .collect();

    let case = score_case(&outcomes, lines);
    let mut gates_failed = Vec::new();
    let mut rows = Vec::with_capacity(graders.len());
    let (mut tokens, mut cost) = (head.tokens, head.cost);
    for ((grader, score), (_, outcome)) in graders.iter().zip(&case.graders).zip(&outcomes) {
        let gates = grader_gates(&grader.decisions, 0, grader.standing, outcome, score, lines);
        gates_failed.extend(gates.into_iter().filter_map(|gate| GateRow::for_failed_gate(gate, grader.name)));

        for decided in &grader.decisions {
            tokens.add(decided.decision.spent.tokens);
            cost += decided.decision.spent.cost;
        }

        rows.push(GraderRow {
            name: grader.name.to_owned(),
            type_name: grader.type_name.to_owned(),
            weight: grader.standing.weight.get(),
            negate: grader.standing.negate,
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

    let metrics = head.metrics.into_iter().map(|metric| metric_score(metric, graders, lines)).collect();
    ResultRow {
        format: head.format,
        suite: head.key.suite,
        case_id: head.key.case_id,
        target: head.key.target,
        answered_by: head.answered_by,
        trial: head.key.trial,
        place: head.place,
        trials: head.trials,
        tags: head.tags,
        cluster: head.cluster,
        test: head.test,
        prompt: head.prompt,
        metrics,
        case_hash: head.case_hash,
        score: case.score,
        score_low: case.bounds.map(|(low, _)| low),
        score_high: case.bounds.map(|(_, high)| high),
        coverage: case.coverage,
        verdict: if head.error.is_some() { case.verdict.after_error() } else { case.verdict },
        gates_failed,
        graders: rows,
        answer: head.answer,
        turns: head.turns,
        file_changes: head.file_changes,
        tool_calls: head.tool_calls,
        tool_calls_dropped: head.tool_calls_dropped,
        error: head.error,
        tokens,
        cost_usd: cost.total(),
        cost_partial: cost.to_partial(),
        duration_ms: head.duration_ms,
    }
}

/// The score that counts for a metric. Unknown if there is no answer, or the grader broke.
fn metric_score(
    metric: NamedMetric,
    graders: &[GraderDecisions<'_>],
    lines: VerdictThresholds,
) -> MetricScore {
    let (name, path) = (metric.name, metric.grader);
    let of = path.split_first().and_then(|(first, members)| {
        let grader = graders.iter().find(|grader| grader.name == *first)?;
        member_score(&grader.decisions, 0, grader.standing, members, lines)
    });
    let Some((score, weight)) = of else {
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
