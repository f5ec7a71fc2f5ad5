//! Scoring again from stored decisions, without asking anybody.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use assize_rubric::{
    Cost, Criterion, CriterionId, Lines, RepeatPlan, Rubric, Tokens, Ungraded, UngradedKind, Usd,
};
use assize_store::{CaseRecord, JudgementRow, ResultRow, grader_outcome};

use crate::assemble::{CaseHead, Graded, assemble};
use crate::grading::recombined;

/// A case scored again.
#[derive(Debug, Clone, PartialEq)]
pub struct Rescored {
    /// The new record.
    pub record: CaseRecord,
    /// Criteria of the new rubric that no stored decision answers, by (grader, id): ungraded now.
    pub unanswered: Vec<(Arc<str>, CriterionId)>,
    /// Stored decisions on criteria that the new rubric no longer has, by (grader, id).
    pub dropped: Vec<(Arc<str>, CriterionId)>,
}

/// Scores a stored case again. With a `rubric`, its weights, gates and criteria take the place of
/// the stored ones in every grader that shares a criterion id with it; a decision is carried over
/// only if the criterion still reads the same (text, scale, operator), because a decision on other
/// words is no decision on these. With `lines`, those take the place of the stored ones.
pub fn rescore(record: &CaseRecord, rubric: Option<&Rubric>, lines: Option<Lines>) -> Rescored {
    let mut unanswered = Vec::new();
    let mut dropped = Vec::new();
    let mut judgements = Vec::with_capacity(record.judgements.len());
    for group in record.judgements.chunk_by(|a, b| a.grader == b.grader && a.member == b.member) {
        match rubric.filter(|rubric| shares_a_criterion(rubric, group)) {
            None => judgements.extend_from_slice(group),
            Some(rubric) => {
                for criterion in rubric.criteria() {
                    let row = carry_over(criterion, group);
                    if row.ungraded.as_ref().is_some_and(|why| why.kind == UngradedKind::NotJudged) {
                        unanswered.push((row.grader.clone(), criterion.id.clone()));
                    }
                    let votes = row.panel.is_some().then(|| votes_on(group, criterion));
                    judgements.push(row);
                    judgements.extend(votes.into_iter().flatten());
                }
                let gone = group.iter().filter(|row| {
                    !row.is_vote()
                        && !rubric.criteria().iter().any(|criterion| criterion.id == row.criterion.id)
                });
                dropped.extend(gone.map(|row| (row.grader.clone(), row.criterion.id.clone())));
            }
        }
    }
    recombine(&mut judgements);
    if let Some(lines) = lines {
        for row in &mut judgements {
            row.lines = lines;
        }
    }
    let result = score_record(&record.result, &judgements);
    Rescored { record: CaseRecord { result, judgements }, unanswered, dropped }
}

/// The result row that `judgements` lead to; everything that is no score is taken from `stored`.
pub fn score_record(stored: &ResultRow, judgements: &[JudgementRow]) -> ResultRow {
    let Some(lines) = judgements.first().map(|row| row.lines) else { return stored.clone() };
    let groups: Vec<&[JudgementRow]> = judgements.chunk_by(|a, b| a.grader == b.grader).collect();
    // Rows that make no rubric can't have been written by a run, and a grader without rows broke
    // before it decided anything: what is stored then stands.
    if groups.iter().any(|group| grader_outcome(&group.iter().collect::<Vec<_>>(), lines).is_err()) {
        return stored.clone();
    }
    let decided: HashSet<&str> = groups.iter().map(|group| group[0].grader.as_ref()).collect();
    if stored.graders.iter().any(|grader| !decided.contains(grader.name.as_str())) {
        return stored.clone();
    }
    let mut types: HashMap<&str, &str> = HashMap::new();
    for grader in &stored.graders {
        types.entry(&grader.name).or_insert(&grader.type_name);
    }
    let graded: Vec<Graded<'_>> = groups
        .iter()
        .filter_map(|rows| {
            let first = rows.first()?;
            Some(Graded {
                name: &first.grader,
                type_name: types.get(first.grader.as_ref()).copied().unwrap_or("rubrics"),
                standing: first.standing.into(),
                rows: rows.iter().collect(),
            })
        })
        .collect();
    let head = CaseHead {
        format: stored.format,
        suite: stored.suite.clone(),
        case_id: stored.case_id.clone(),
        target: stored.target.clone(),
        answered_by: stored.answered_by.clone(),
        repeat: stored.repeat,
        repeats: stored.repeats.map(|plan| RepeatPlan { lines, ..plan }),
        tags: stored.tags.clone(),
        cluster: stored.cluster.clone(),
        case_hash: stored.case_hash.clone(),
        answer: stored.answer.clone(),
        turns: stored.turns.clone(),
        file_changes: stored.file_changes.clone(),
        error: stored.error.clone(),
        tokens: Tokens::default(),
        cost: Cost::ZERO,
        duration_ms: stored.duration_ms,
    };
    // What was spent does not change by scoring again.
    ResultRow {
        tokens: stored.tokens,
        cost_usd: stored.cost_usd,
        cost_partial: stored.cost_partial,
        ..assemble(head, &graded, lines)
    }
}

/// The votes on a criterion, as it reads now.
fn votes_on(group: &[JudgementRow], criterion: &Criterion) -> Vec<JudgementRow> {
    let votes = group.iter().filter(|row| row.is_vote() && row.criterion.id == criterion.id);
    votes.map(|row| JudgementRow { criterion: criterion.clone(), ..row.clone() }).collect()
}

/// Works every panel's decision out again from the votes that follow it.
fn recombine(judgements: &mut [JudgementRow]) {
    for at in 0..judgements.len() {
        if judgements[at].panel.is_some() {
            let votes = judgements[at + 1..].iter().take_while(|row| row.is_vote()).count();
            judgements[at] = recombined(&judgements[at], &judgements[at + 1..=at + votes]);
        }
    }
}

fn shares_a_criterion(rubric: &Rubric, rows: &[JudgementRow]) -> bool {
    rows.iter().any(|row| {
        row.grader_result.is_none()
            && rubric.criteria().iter().any(|criterion| criterion.id == row.criterion.id)
    })
}

fn carry_over(criterion: &Criterion, group: &[JudgementRow]) -> JudgementRow {
    let stored = group.iter().find(|row| row.criterion.id == criterion.id);
    let same = stored.filter(|row| {
        row.criterion.text == criterion.text
            && row.criterion.scale == criterion.scale
            && row.criterion.operator == criterion.operator
    });
    if let Some(row) = same {
        return JudgementRow { criterion: criterion.clone(), ..row.clone() };
    }
    let message = match stored {
        Some(_) => "the criterion reads differently now; run it again to have it judged",
        None => "the criterion was not there when the run was judged",
    };
    // The group has at least one row: it shares a criterion with the rubric.
    let pattern = stored.unwrap_or(&group[0]);
    JudgementRow {
        criterion: criterion.clone(),
        outcome: "ungraded".into(),
        raw_score: None,
        points: None,
        probability: None,
        vote: None,
        panel: None,
        reason: message.to_owned(),
        confidence: None,
        evidence: Vec::new(),
        ungraded: Some(Ungraded { kind: UngradedKind::NotJudged, message: message.to_owned() }),
        attempts: 0,
        cached_calls: 0,
        tokens: Tokens::default(),
        latency_ms: None,
        cost_usd: Some(Usd::ZERO),
        cost_partial: None,
        truncated: None,
        replies: Vec::new(),
        ..pattern.clone()
    }
}
