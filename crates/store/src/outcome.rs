//! What the stored rows of a grader stand for, in the terms of the arithmetic.

use std::borrow::Cow;
use std::sync::Arc;

use assize_rubric::{
    Combination, Gate, GateState, GraderOutcome, GraderScore, GraderStanding, Lines, Outcome, RawScore,
    Rubric, Unit, combine, score_criteria,
};

use crate::{Aggregator, CriterionRow, GateRow, JudgementRow, MemberRow};

/// What the rows of one grader lead to. The error says why they lead to nothing, which counts as a
/// grader that broke.
pub fn grader_outcome(rows: &[&JudgementRow], lines: Lines) -> Result<GraderOutcome, String> {
    outcome_at(rows, 0, lines)
}

/// What the rows of a member lead to; `depth` is the number of names that lead to it.
pub fn member_outcome(rows: &[&JudgementRow], depth: usize, lines: Lines) -> Result<GraderOutcome, String> {
    outcome_at(rows, depth, lines)
}

/// A gate that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct GateNote {
    /// The criterion, with the members it stands in before it; `None` for the gate of the whole grader.
    pub criterion: Option<Arc<str>>,
    /// The rule, such as `required`.
    pub rule: Cow<'static, str>,
    /// Where it stands.
    pub state: GateState,
}

impl GateNote {
    /// The row of a gate of `grader` that failed.
    pub fn failed(self, grader: &str) -> Option<GateRow> {
        (self.state == GateState::Failed).then(|| GateRow {
            grader: grader.to_owned(),
            criterion: self.criterion.map(|id| id.to_string()),
            rule: self.rule.into_owned(),
        })
    }
}

/// The gates of a grader, or of the member that `depth` names lead to, that speak for its case. Those
/// inside something negated do not.
pub fn grader_gates(
    rows: &[&JudgementRow],
    depth: usize,
    standing: GraderStanding,
    outcome: &GraderOutcome,
    score: &GraderScore,
    lines: Lines,
) -> Vec<GateNote> {
    let mut found = Vec::new();
    gates_at(rows, depth, standing, outcome, score, lines, &mut found);
    found
}

/// Whether a grader has rows, every member of a composite has too, and panels have all their votes.
pub(crate) fn is_complete(rows: &[&JudgementRow]) -> bool {
    complete_at(rows, 0)
}

fn complete_at(rows: &[&JudgementRow], depth: usize) -> bool {
    let has_votes = |row: &JudgementRow| {
        row.panel.as_ref().is_none_or(|panel| {
            let votes = rows.iter().filter(|vote| {
                vote.is_vote() && vote.member == row.member && vote.criterion.id == row.criterion.id
            });
            votes.count() == panel.votes.len()
        })
    };
    let own = own(rows, depth);
    !own.is_empty()
        && own.iter().all(|row| has_votes(row))
        && members(rows, depth)
            .iter()
            .all(|member| complete_at(&of_member(rows, depth, &member.name), depth + 1))
}

/// The rows that results show for a grader: its criteria, or what it found point by point; those of a
/// composite are its members', with the member's name before the id.
pub fn criterion_rows(rows: &[&JudgementRow]) -> Vec<CriterionRow> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows.iter().filter(|row| !row.is_vote()) {
        show(row, &mut |criterion, _| found.push(criterion));
    }
    found
}

/// The words of what [`criterion_rows`] shows, by id.
pub fn criterion_texts(row: &JudgementRow) -> Vec<(Arc<str>, String)> {
    let mut found = Vec::new();
    show(row, &mut |criterion, text| found.push((criterion.id, text.to_owned())));
    found
}

/// Rows of the member `name` of the composite at `depth`.
fn of_member<'a>(rows: &[&'a JudgementRow], depth: usize, name: &str) -> Vec<&'a JudgementRow> {
    rows.iter().filter(|row| row.member.get(depth).is_some_and(|member| member == name)).copied().collect()
}

fn own<'a>(rows: &[&'a JudgementRow], depth: usize) -> Vec<&'a JudgementRow> {
    rows.iter().filter(|row| row.member.len() == depth && !row.is_vote()).copied().collect()
}

fn members(rows: &[&JudgementRow], depth: usize) -> Vec<MemberRow> {
    let composite = own(rows, depth).first().and_then(|row| row.grader_result.as_ref()?.composite.clone());
    composite.map(|composite| composite.members).unwrap_or_default()
}

fn outcome_at(rows: &[&JudgementRow], depth: usize, lines: Lines) -> Result<GraderOutcome, String> {
    let own = own(rows, depth);
    let Some(first) = own.first() else {
        return Err("the run holds no decisions of this grader".to_owned());
    };
    let Some(result) = &first.grader_result else {
        let outcomes: Vec<Outcome> = own.iter().map(|row| row.decided()).collect();
        let criteria = own.iter().map(|row| &row.criterion);
        return Rubric::check(criteria.clone())
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            .and_then(|()| score_criteria(criteria, &outcomes, lines).map_err(|error| error.to_string()))
            .map(GraderOutcome::Rubric)
            .map_err(|problem| format!("the stored criteria make no rubric: {problem}"));
    };
    let score = match result.score {
        Some(score) => Some(
            Unit::new(score).map_err(|_| format!("the stored score {score} does not lie between 0 and 1"))?,
        ),
        None => None,
    };
    if let Some(composite) = &result.composite {
        let members: Vec<(GraderStanding, GraderOutcome)> = composite
            .members
            .iter()
            .map(|member| {
                let rows = of_member(rows, depth, &member.name);
                let outcome = outcome_at(&rows, depth + 1, lines).unwrap_or(GraderOutcome::Errored);
                (member.standing.into(), outcome)
            })
            .collect();
        let how = match composite.aggregator {
            Aggregator::WeightedAverage => Combination::WeightedAverage,
            Aggregator::Threshold(line) => Combination::Threshold(line),
            Aggregator::Lowest => Combination::Lowest,
            Aggregator::Highest => Combination::Highest,
            Aggregator::Decided => Combination::Decided(score),
        };
        return Ok(GraderOutcome::Combined(Box::new(combine(&members, how, lines))));
    }
    Ok(match (score, &result.error) {
        (_, Some(_)) => GraderOutcome::Errored,
        (Some(score), None) => GraderOutcome::Value(score),
        (None, None) => GraderOutcome::NotApplicable,
    })
}

fn gates_at(
    rows: &[&JudgementRow],
    depth: usize,
    standing: GraderStanding,
    outcome: &GraderOutcome,
    score: &GraderScore,
    lines: Lines,
    found: &mut Vec<GateNote>,
) {
    match outcome {
        GraderOutcome::Rubric(rubric) if !standing.negate && !rubric.gates.is_empty() => {
            let own = own(rows, depth);
            for (index, gate, state) in &rubric.gates {
                let criterion = own.get(*index).map(|row| row.shown_id(row.criterion.id.clone()));
                found.push(GateNote { criterion, rule: gate.rule(), state: *state });
            }
        }
        GraderOutcome::Combined(combined) if !standing.negate => {
            for (member, score) in members(rows, depth).iter().zip(&combined.members) {
                let rows = of_member(rows, depth, &member.name);
                let outcome = outcome_at(&rows, depth + 1, lines).unwrap_or(GraderOutcome::Errored);
                gates_at(&rows, depth + 1, member.standing.into(), &outcome, score, lines, found);
            }
        }
        _ => {}
    }
    if let Some(state) = score.required {
        let criterion = (depth > 0)
            .then(|| {
                rows.first()
                    .map(|row| row.member.iter().take(depth).cloned().collect::<Vec<_>>().join("/").into())
            })
            .flatten();
        found.push(GateNote { criterion, rule: standing.gate_rule().into(), state });
    }
}

/// Shows `see` what results show of a row, each with its words.
fn show(row: &JudgementRow, see: &mut impl FnMut(CriterionRow, &str)) {
    let base = |id: Arc<str>| CriterionRow {
        id: row.shown_id(id),
        outcome: Cow::default(),
        raw_score: None,
        points: None,
        value: None,
        weight: 1.0,
        gate: None,
        reason: String::new(),
        evidence: row.evidence.clone(),
        judge: row.judge.clone(),
        panel: row.panel.clone(),
        truncated: row.truncated.map(|truncated| truncated.mode),
    };
    let Some(result) = &row.grader_result else {
        let outcome = row.decided();
        let criterion = CriterionRow {
            outcome: outcome.name().into(),
            raw_score: outcome.raw_score().map(RawScore::get),
            points: outcome.points().filter(|_| outcome.raw_score().is_none()),
            value: outcome.value(),
            weight: row.criterion.weight.get(),
            gate: row.criterion.gate.map(Gate::rule),
            reason: row.reason.clone(),
            ..base(row.criterion.id.clone().into())
        };
        return see(criterion, &row.criterion.text);
    };
    if let (Some(error), false) = (&result.error, row.member.is_empty()) {
        let outcome = Outcome::Ungraded.name().into();
        see(CriterionRow { outcome, reason: error.clone(), ..base("".into()) }, "");
    }
    if let (Some(score), false) = (result.score, row.reason.trim().is_empty()) {
        // A score with a reason of its own: that of a judge or a program.
        let scored = CriterionRow {
            outcome: "scored".into(),
            value: Some(score),
            reason: row.reason.clone(),
            ..base("score".into())
        };
        see(scored, "the answer as a whole");
    }
    for (index, note) in result.notes.iter().enumerate() {
        let outcome = match note.passed {
            Some(true) => Outcome::Met,
            Some(false) => Outcome::Unmet,
            // A remark decides nothing, so it is no row of its own.
            None => continue,
        };
        let criterion = CriterionRow {
            outcome: outcome.name().into(),
            value: outcome.value(),
            weight: note.weight.unwrap_or(1.0),
            reason: note.reason.clone(),
            evidence: Vec::new(),
            panel: None,
            ..base(format!("check-{}", index + 1).into())
        };
        see(criterion, &note.text);
    }
}
