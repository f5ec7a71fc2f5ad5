//! Recomputation of a case from its stored decisions.

use std::borrow::Borrow;

use assize_rubric::{
    CaseDecision, EvidenceQuote, GraderFinding, GraderOutcome, GraderWeighting, UnitInterval,
    VerdictThresholds, Weight, member_outcome, score_case,
};
use assize_store::{CaseRecord, CaseStage, GateRow, GraderRow, QuestionRow, TurnRow};

use super::check::find_disagreements;
use super::equations::case_equations;
use super::grader::GraderRecord;
use super::model::{CaseExplanation, GraderPart, ScoreRange};
use super::parts::{collect_gates, grader_part};
use super::verdict_reason::{GateNames, verdict_reason};
use crate::conversation_text::ConversationText;
use crate::quote_place::{LocatedText, QuotePlace};

/// Explains a case. `question` is its stored question, if the run kept it.
pub fn explain_case(record: &CaseRecord, question: Option<&QuestionRow>) -> CaseExplanation {
    let mut explanation = recompute_case(record, question);
    // The answers of a conversation are shown turn by turn. A quote that no single answer contains may span
    // several turns; it is located where it begins.
    let transcript = record.result.answer.as_deref().unwrap_or_default();
    let conversation = ConversationText::new(transcript, &record.result.turns);
    let begin = |quote: &str| {
        let (turn, part) = conversation.as_ref()?.parts_of(quote).into_iter().next()?;
        let of_turn = |row: &&TurnRow| row.turn == turn;
        let answer = record.result.turns.iter().find(of_turn)?.answer.as_deref()?;
        let line = 1 + answer.chars().take(part.start).filter(|c| *c == '\n').count();
        Some(QuotePlace { turn: Some(turn), line, start: part.start, end: part.end })
    };
    let turns: Vec<AnswerText> = if explanation.turns.is_empty() {
        explanation.answer.iter().map(|answer| AnswerText::new(None, answer)).collect()
    } else {
        let of_turn = |turn: &TurnRow| Some(AnswerText::new(Some(turn.turn), turn.answer.as_deref()?));
        explanation.turns.iter().filter_map(of_turn).collect()
    };
    for part in &mut explanation.graders {
        locate_quotes(part, &turns, &begin);
        let name = part.name.clone();
        for member in &mut part.members {
            if let Some(turn) = graded_turn(&record.decisions, &name, &member.name) {
                let own: Vec<&AnswerText> = turns.iter().filter(|text| text.turn == Some(turn)).collect();
                locate_quotes(member, &own, &|_| None);
            }
        }
    }

    explanation
}

/// An answer in which quotes are searched for.
struct AnswerText {
    /// Turn of the conversation in which it was given; `None` outside conversations.
    turn: Option<u32>,
    text: LocatedText,
}

impl AnswerText {
    fn new(turn: Option<u32>, answer: &str) -> Self {
        Self { turn, text: LocatedText::new(answer) }
    }

    fn find(&self, quote: &str) -> Option<QuotePlace> {
        self.text.find(quote).map(|place| QuotePlace { turn: self.turn, ..place })
    }
}

/// Turn that a member of a conversation grader grades; `None` if it grades the conversation as a whole.
fn graded_turn(decisions: &[CaseDecision], grader: &str, member: &str) -> Option<u32> {
    let own = member.strip_prefix(grader)?.strip_prefix('/')?;
    let of_member =
        |row: &&CaseDecision| *row.grader == *grader && row.member.first().is_some_and(|at| at == own);
    decisions.iter().find(of_member)?.turn
}

/// Fills in the places of the quotes of a grader and its members: in the first of `answers` that contains the
/// quote, or else the place that `begin` returns.
fn locate_quotes(
    part: &mut GraderPart,
    answers: &[impl Borrow<AnswerText>],
    begin: &dyn Fn(&str) -> Option<QuotePlace>,
) {
    let find =
        |quote: &str| answers.iter().find_map(|answer| answer.borrow().find(quote)).or_else(|| begin(quote));
    let places = |evidence: &[EvidenceQuote]| evidence.iter().map(|one| find(&one.quote)).collect();
    for criterion in &mut part.criteria {
        criterion.evidence_places = places(&criterion.evidence);
    }
    if let Some(whole) = &mut part.whole {
        whole.evidence_places = places(&whole.evidence);
    }

    part.members.iter_mut().for_each(|member| locate_quotes(member, answers, begin));
}

fn recompute_case(record: &CaseRecord, question: Option<&QuestionRow>) -> CaseExplanation {
    let stored = &record.result;
    let thresholds = record.decisions.first().map(|row| row.thresholds);
    let mut explanation = CaseExplanation {
        suite: stored.suite.to_string(),
        case_id: stored.case_id.to_string(),
        test: stored.test.as_deref().map(str::to_owned),
        prompt: stored.prompt.as_deref().map(str::to_owned),
        target: stored.target.as_deref().map(str::to_owned),
        repeat: stored.trial,
        thresholds,
        error: stored.error.clone(),
        question: question.and_then(|row| row.question.clone()),
        expected_outcome: question.and_then(|row| row.expected_outcome.clone()),
        reference: question.and_then(|row| row.reference.clone()),
        answer: stored.answer.clone(),
        latency_ms: stored.latency_ms,
        file_changes: stored.file_changes.clone(),
        tool_calls: stored.tool_calls.clone(),
        tool_calls_dropped: stored.tool_calls_dropped,
        turns: stored.turns.clone(),
        graders: Vec::new(),
        equations: Vec::new(),
        figures: ScoreRange {
            score: stored.score,
            score_low: stored.score_low,
            score_high: stored.score_high,
            coverage: stored.coverage,
        },
        verdict: stored.verdict,
        because: String::new(),
        gates_failed: stored.gates_failed.clone(),
        recomputed: false,
        disagreements: Vec::new(),
    };

    let Some(thresholds) = thresholds else {
        explanation.because = match &stored.error {
            Some(error) => format!(
                "{}: {} ({}), so there is no score.",
                stored.verdict,
                match error.stage {
                    CaseStage::Target => "the target failed",
                    CaseStage::Load => "the case could not be loaded",
                    CaseStage::Grade => "grading failed",
                    CaseStage::Workspace => "the workspace could not be used",
                    CaseStage::Teardown | CaseStage::Dependency => "an error",
                },
                error.kind.name()
            ),
            None => format!("{}, as stored: the run has no decisions on this case.", stored.verdict),
        };
        return explanation;
    };

    let graders = explain_graders(record, thresholds);
    let outcomes: Vec<_> = graders.iter().map(|grader| (grader.weighting, grader.outcome.clone())).collect();
    let case = score_case(&outcomes, thresholds);
    let mut gates = GateNames::default();
    let mut gates_failed = Vec::new();
    let mut shares = Vec::new();
    for (grader, score) in graders.iter().zip(&case.graders) {
        explanation.graders.push(grader_part(grader, score, thresholds));
        collect_gates(grader, score, thresholds, &mut gates, &mut gates_failed);
        if let Some(bounds) = score.bounds {
            shares.push((grader.weighting.weight.get(), bounds));
        }
    }

    explanation.equations = case_equations(&shares);
    explanation.figures = ScoreRange::new(case.score, case.bounds, case.coverage);
    explanation.verdict = if stored.error.is_some() { case.verdict.after_error() } else { case.verdict };
    explanation.because = verdict_reason(case.verdict, explanation.figures, thresholds, &gates);

    if explanation.verdict != case.verdict {
        explanation.because =
            format!("{}, because of the error; without it: {}", explanation.verdict, explanation.because);
    }

    explanation.gates_failed = gates_failed;
    explanation.recomputed = true;
    explanation.disagreements = find_disagreements(record, &explanation);

    explanation
}

/// Returns the graders in stored order, then those that have decisions but no stored row.
fn explain_graders(record: &CaseRecord, thresholds: VerdictThresholds) -> Vec<GraderRecord<'_>> {
    let mut names: Vec<&str> = record.result.graders.iter().map(|grader| grader.name.as_str()).collect();
    for group in record.decisions.chunk_by(|a, b| a.grader == b.grader) {
        if !names.contains(&&*group[0].grader) {
            names.push(&group[0].grader);
        }
    }

    names
        .into_iter()
        .filter_map(|name| {
            let stored = record.result.graders.iter().find(|grader| grader.name == name);
            let rows: Vec<&CaseDecision> =
                record.decisions.iter().filter(|row| *row.grader == *name).collect();
            match (rows.first(), stored) {
                (Some(first), stored) => {
                    let type_name = stored.map_or("rubrics", |stored| &stored.type_name);
                    Some(explain_judged_grader(
                        name.to_owned(),
                        type_name,
                        first.weighting,
                        rows,
                        0,
                        thresholds,
                    ))
                }
                (None, Some(stored)) => Some(explain_stored_grader(stored, &record.result.gates_failed)),
                (None, None) => None,
            }
        })
        .collect()
}

fn explain_judged_grader<'a>(
    name: String,
    type_name: &str,
    weighting: GraderWeighting,
    all_rows: Vec<&'a CaseDecision>,
    depth: usize,
    thresholds: VerdictThresholds,
) -> GraderRecord<'a> {
    let own: Vec<&CaseDecision> =
        all_rows.iter().filter(|row| row.member.len() == depth && !row.is_vote()).copied().collect();
    let whole = own.first().copied().filter(|row| row.finding().is_some());
    let finding = whole.and_then(CaseDecision::finding);
    let error = finding.and_then(GraderFinding::error);
    let mut problem = error.map(|error| format!("the grader failed, so its score is unknown: {error}"));
    let outcome = member_outcome(&all_rows, depth, thresholds).unwrap_or_else(|broken| {
        problem = Some(broken);
        GraderOutcome::Errored
    });
    let mut members = Vec::new();
    if let (Some(composite), GraderOutcome::Combined(combined)) =
        (finding.and_then(GraderFinding::composition), &outcome)
    {
        for (member, score) in composite.members.iter().zip(&combined.members) {
            let rows: Vec<&CaseDecision> = all_rows
                .iter()
                .filter(|row| row.member.get(depth).is_some_and(|at| *at == member.name))
                .copied()
                .collect();

            let name = format!("{name}/{}", member.name);
            let member =
                explain_judged_grader(name, &member.type_name, member.weighting, rows, depth + 1, thresholds);
            members.push((member, score.clone()));
        }
    }

    GraderRecord {
        name,
        type_name: type_name.to_owned(),
        weighting,
        rows: if whole.is_some() { Vec::new() } else { own },
        all_rows,
        depth,
        whole,
        members,
        outcome,
        problem,
    }
}

/// Explains a grader without criterion decisions. Its stored score, negation included, is used unchanged. The
/// row only stores a failed gate, so a gate that passed is unknown.
fn explain_stored_grader<'a>(stored: &'a GraderRow, gates_failed: &[GateRow]) -> GraderRecord<'a> {
    let gate = gates_failed.iter().find(|gate| gate.grader == stored.name && gate.criterion.is_none());
    let min_score = gate
        .and_then(|gate| gate.rule.rsplit_once("min_score "))
        .and_then(|(_, number)| number.parse().ok())
        .and_then(|number| UnitInterval::new(number).ok());
    let value = stored.score.and_then(|score| UnitInterval::new(score).ok());
    let outcome = match (value, stored.error.is_some() || stored.verdict.is_some()) {
        (Some(value), _) => GraderOutcome::Value(value),
        (None, true) => GraderOutcome::Errored,
        (None, false) => GraderOutcome::NotApplicable,
    };
    let problem = match (&stored.error, &outcome) {
        (Some(error), _) => Some(format!("the grader failed, so its score is unknown: {error}")),
        (None, GraderOutcome::Errored) => Some("the run has no decisions of this grader".to_owned()),
        _ => None,
    };

    GraderRecord {
        name: stored.name.clone(),
        type_name: stored.type_name.clone(),
        weighting: GraderWeighting {
            weight: Weight::new(stored.weight).unwrap_or_default(),
            required: gate.is_some(),
            min_score,
            negate: false,
        },
        rows: Vec::new(),
        all_rows: Vec::new(),
        depth: 0,
        whole: None,
        members: Vec::new(),
        outcome,
        problem,
    }
}
