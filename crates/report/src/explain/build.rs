//! Recomputation of a case from its stored decisions.

use assize_rubric::{GraderOutcome, GraderStanding, Lines, Unit, Weight, score_case};
use assize_store::{CaseRecord, GateRow, GraderRow, JudgementRow, member_outcome, settled_verdict};

use super::because::{GateNames, because};
use super::check::disagreements;
use super::equations::case_equations;
use super::grader::Grader;
use super::model::{Explanation, Figures};
use super::parts::{collect_gates, part};
use crate::clean;

/// Explains a case.
pub(crate) fn explanation(record: &CaseRecord) -> Explanation {
    let stored = &record.result;
    let lines = record.judgements.first().map(|row| row.lines);
    let mut explanation = Explanation {
        suite: stored.suite.to_string(),
        case_id: stored.case_id.to_string(),
        target: stored.target.as_deref().map(str::to_owned),
        repeat: stored.repeat,
        lines,
        error: stored.error.clone(),
        file_changes: stored.file_changes.clone(),
        turns: stored.turns.clone(),
        graders: Vec::new(),
        equations: Vec::new(),
        figures: Figures {
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
    let Some(lines) = lines else {
        explanation.because = match &stored.error {
            Some(error) => format!(
                "{}, because {} ({}) left nothing to score.",
                stored.verdict,
                match error.stage.as_str() {
                    "target" => "the target failed",
                    "load" => "the case could not be loaded",
                    "grade" => "grading failed",
                    "workspace" => "the workspace could not be used",
                    _ => "an error",
                },
                clean::name(&error.kind)
            ),
            None => format!("{}, as stored: the run holds no decisions on this case.", stored.verdict),
        };
        return explanation;
    };
    let graders = graders(record, lines);
    let outcomes: Vec<_> = graders.iter().map(|grader| (grader.standing, grader.outcome.clone())).collect();
    let case = score_case(&outcomes, lines);
    let mut gates = GateNames::default();
    let mut gates_failed = Vec::new();
    let mut shares = Vec::new();
    for (grader, score) in graders.iter().zip(&case.graders) {
        explanation.graders.push(part(grader, score, lines));
        collect_gates(grader, score, lines, &mut gates, &mut gates_failed);
        if let Some(bounds) = score.bounds {
            shares.push((grader.standing.weight.get(), bounds));
        }
    }
    explanation.equations = case_equations(&shares);
    explanation.figures = Figures::new(case.score, case.bounds, case.coverage);
    explanation.verdict = settled_verdict(case.verdict, stored.error.as_ref());
    explanation.because = because(case.verdict, explanation.figures, lines, &gates);
    if explanation.verdict != case.verdict {
        explanation.because =
            format!("{}, because of the error; without it {}", explanation.verdict, explanation.because);
    }
    explanation.gates_failed = gates_failed;
    explanation.recomputed = true;
    explanation.disagreements = disagreements(record, &explanation);
    explanation
}

/// Returns the graders in stored order, then those that only have decisions.
fn graders(record: &CaseRecord, lines: Lines) -> Vec<Grader<'_>> {
    let mut names: Vec<&str> = record.result.graders.iter().map(|grader| grader.name.as_str()).collect();
    for group in record.judgements.chunk_by(|a, b| a.grader == b.grader) {
        if !names.contains(&&*group[0].grader) {
            names.push(&group[0].grader);
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let stored = record.result.graders.iter().find(|grader| grader.name == name);
            let rows: Vec<&JudgementRow> =
                record.judgements.iter().filter(|row| *row.grader == *name).collect();
            match (rows.first(), stored) {
                (Some(first), stored) => {
                    let type_name = stored.map_or("rubrics", |stored| &stored.type_name);
                    Some(judged(name.to_owned(), type_name, first.standing.into(), rows, 0, lines))
                }
                (None, Some(stored)) => Some(undecided(stored, &record.result.gates_failed)),
                (None, None) => None,
            }
        })
        .collect()
}

fn judged<'a>(
    name: String,
    type_name: &str,
    standing: GraderStanding,
    all_rows: Vec<&'a JudgementRow>,
    depth: usize,
    lines: Lines,
) -> Grader<'a> {
    let own: Vec<&JudgementRow> =
        all_rows.iter().filter(|row| row.member.len() == depth && !row.is_vote()).copied().collect();
    let whole = own.first().copied().filter(|row| row.grader_result.is_some());
    let result = whole.and_then(|row| row.grader_result.as_ref());
    let error = result.and_then(|result| result.error.as_ref());
    let mut problem = error.map(|error| format!("the grader broke, so its score could be anything: {error}"));
    let outcome = member_outcome(&all_rows, depth, lines).unwrap_or_else(|broken| {
        problem = Some(broken);
        GraderOutcome::Errored
    });
    let mut members = Vec::new();
    if let (Some(composite), GraderOutcome::Combined(combined)) =
        (result.and_then(|result| result.composite.as_ref()), &outcome)
    {
        for (member, score) in composite.members.iter().zip(&combined.members) {
            let rows: Vec<&JudgementRow> = all_rows
                .iter()
                .filter(|row| row.member.get(depth).is_some_and(|at| *at == member.name))
                .copied()
                .collect();
            let name = format!("{name}/{}", member.name);
            let member = judged(name, &member.type_name, member.standing.into(), rows, depth + 1, lines);
            members.push((member, score.clone()));
        }
    }
    Grader {
        name,
        type_name: type_name.to_owned(),
        standing,
        rows: if whole.is_some() { Vec::new() } else { own },
        all_rows,
        depth,
        whole,
        members,
        outcome,
        problem,
    }
}

/// Explains a grader without criterion decisions. Its stored score, negation included, is used unchanged; of
/// its gate only the failure is stored.
fn undecided<'a>(stored: &'a GraderRow, gates_failed: &[GateRow]) -> Grader<'a> {
    let gate = gates_failed.iter().find(|gate| gate.grader == stored.name && gate.criterion.is_none());
    let min_score = gate
        .and_then(|gate| gate.rule.rsplit_once("min_score "))
        .and_then(|(_, number)| number.parse().ok())
        .and_then(|number| Unit::new(number).ok());
    let value = stored.score.and_then(|score| Unit::new(score).ok());
    let outcome = match (value, stored.error.is_some() || stored.verdict.is_some()) {
        (Some(value), _) => GraderOutcome::Value(value),
        (None, true) => GraderOutcome::Errored,
        (None, false) => GraderOutcome::NotApplicable,
    };
    let problem = match (&stored.error, &outcome) {
        (Some(error), _) => Some(format!("the grader broke, so its score could be anything: {error}")),
        (None, GraderOutcome::Errored) => Some("the run holds no decisions of this grader".to_owned()),
        _ => None,
    };
    Grader {
        name: stored.name.clone(),
        type_name: stored.type_name.clone(),
        standing: GraderStanding {
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
