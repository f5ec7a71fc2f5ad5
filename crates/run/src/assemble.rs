//! From stored decisions to a result row. Used by the engine and by every later recomputation, so
//! that a score is always a function of its decisions.

use assize_rubric::{
    Gate, GateState, GraderOutcome, GraderScore, GraderStanding, Lines, Outcome, OutcomeError, Rubric,
    RubricScore, Tokens, score_case, score_rubric,
};
use assize_store::{CaseError, CriterionRow, GateRow, GraderRow, JudgementRow, ResultRow};

/// What a result row says beside its scores.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CaseHead {
    /// Eval-file format.
    pub(crate) format: Option<u8>,
    /// Name of the suite.
    pub(crate) suite: String,
    /// Id of the case.
    pub(crate) case_id: String,
    /// Name of the target.
    pub(crate) target: Option<String>,
    /// Number of the repeat.
    pub(crate) repeat: u32,
    /// The answer.
    pub(crate) answer: Option<String>,
    /// Why there is no answer or no grading.
    pub(crate) error: Option<CaseError>,
    /// Tokens of the target (judges' tokens are added).
    pub(crate) tokens: Tokens,
    /// Cost of the target; `None` when it is not known (judges' costs are added).
    pub(crate) cost_usd: Option<f64>,
    /// Time taken, in milliseconds.
    pub(crate) duration_ms: u64,
}

/// One grader's decisions, ready to be scored.
#[derive(Debug, Clone)]
pub(crate) struct Graded<'a> {
    pub(crate) name: &'a str,
    pub(crate) type_name: &'a str,
    pub(crate) standing: GraderStanding,
    pub(crate) rubric: &'a Rubric,
    /// One row per criterion, in the rubric's order.
    pub(crate) rows: &'a [JudgementRow],
}

impl Graded<'_> {
    pub(crate) fn score(&self, lines: Lines) -> Result<RubricScore, OutcomeError> {
        let outcomes: Vec<Outcome> = self.rows.iter().map(JudgementRow::decided).collect();
        score_rubric(self.rubric, &outcomes, lines)
    }
}

/// Scores a case from its decisions. With no grader at all (there was no answer to grade) the case
/// is incomplete and nothing is known about its score.
pub(crate) fn assemble(head: CaseHead, graders: &[Graded<'_>], lines: Lines) -> ResultRow {
    let outcomes: Vec<(GraderStanding, GraderOutcome)> = graders
        .iter()
        .map(|grader| {
            let outcome = grader.score(lines).map_or(GraderOutcome::Errored, GraderOutcome::Rubric);
            (grader.standing, outcome)
        })
        .collect();
    let case = score_case(&outcomes, lines);
    let mut gates_failed = Vec::new();
    let mut rows = Vec::with_capacity(graders.len());
    let (mut tokens, mut cost_usd) = (head.tokens, head.cost_usd);
    for ((grader, score), (_, outcome)) in graders.iter().zip(&case.graders).zip(&outcomes) {
        if let GraderOutcome::Rubric(rubric_score) = outcome {
            push_failed_gates(grader, rubric_score, score, &mut gates_failed);
        }
        for row in grader.rows {
            tokens.add(row.tokens);
            cost_usd = cost_usd.zip(row.cost_usd).map(|(a, b)| a + b);
        }
        rows.push(GraderRow {
            name: grader.name.to_owned(),
            type_name: grader.type_name.to_owned(),
            weight: grader.standing.weight.get(),
            score: score.score,
            verdict: score.verdict,
            error: match outcome {
                GraderOutcome::Errored => Some("the decisions do not fit the rubric".to_owned()),
                _ => None,
            },
            criteria: grader.rows.iter().map(criterion_row).collect(),
        });
    }
    ResultRow {
        format: head.format,
        suite: head.suite,
        case_id: head.case_id,
        target: head.target,
        repeat: head.repeat,
        score: case.score,
        score_low: case.bounds.map(|(low, _)| low),
        score_high: case.bounds.map(|(_, high)| high),
        coverage: case.coverage,
        verdict: case.verdict,
        gates_failed,
        graders: rows,
        answer: head.answer,
        error: head.error,
        tokens,
        cost_usd,
        duration_ms: head.duration_ms,
    }
}

fn push_failed_gates(
    grader: &Graded<'_>,
    rubric_score: &RubricScore,
    score: &GraderScore,
    failed: &mut Vec<GateRow>,
) {
    // The gates of a negated grader do not speak for the case.
    if !grader.standing.negate {
        for (index, gate, state) in &rubric_score.gates {
            if *state == GateState::Failed {
                let criterion =
                    grader.rubric.criteria().get(*index).map(|criterion| criterion.id.to_string());
                failed.push(GateRow { grader: grader.name.to_owned(), criterion, rule: gate.to_string() });
            }
        }
    }
    if score.required == Some(GateState::Failed) {
        let rule = grader.standing.gate_rule();
        failed.push(GateRow { grader: grader.name.to_owned(), criterion: None, rule });
    }
}

fn criterion_row(row: &JudgementRow) -> CriterionRow {
    let outcome = row.decided();
    CriterionRow {
        id: row.criterion.id.to_string(),
        outcome: outcome.name().to_owned(),
        raw_score: outcome.raw_score().map(assize_rubric::RawScore::get),
        value: outcome.value(),
        weight: row.criterion.weight.get(),
        gate: row.criterion.gate.as_ref().map(Gate::to_string),
        reason: row.reason.clone(),
        evidence: row.evidence.clone(),
        judge: row.judge.clone(),
    }
}
