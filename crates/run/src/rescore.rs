//! Scores stored decisions again, without asking judges.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use assize_rubric::{
    CaseDecision, Cost, Criterion, CriterionId, Decision, Finding, Outcome, Rubric, Tokens, TrialPlan,
    UngradedKind, UngradedReason, VerdictThresholds, grader_outcome,
};
use assize_store::{CaseRecord, GraderRow, ResultRow};

use crate::assemble::{CaseHead, GraderDecisions, assemble};
use crate::grading::recombine_votes;

/// A case that was scored again.
#[derive(Debug, Clone, PartialEq)]
pub struct RescoreResult {
    /// The new record.
    pub record: CaseRecord,
    /// Criteria of the new rubric without a stored decision, by (grader, id). They are ungraded now.
    pub unanswered: Vec<(Arc<str>, CriterionId)>,
    /// Stored decisions on criteria that the new rubric does not have, by (grader, id).
    pub dropped: Vec<(Arc<str>, CriterionId)>,
}

/// Scores a stored case again. With a `rubric`, its weights, gates and criteria replace the stored ones in every grader
/// that shares a criterion id with it. A decision is carried over only if the criterion has the same text, scale and
/// operator, because a decision on another text is not a decision on this one. `thresholds` replace the stored thresholds.
pub fn rescore(
    record: &CaseRecord,
    rubric: Option<&Rubric>,
    thresholds: Option<VerdictThresholds>,
) -> RescoreResult {
    let mut unanswered = Vec::new();
    let mut dropped = Vec::new();
    let mut decisions = Vec::with_capacity(record.decisions.len());
    for group in record.decisions.chunk_by(|a, b| a.grader == b.grader && a.member == b.member) {
        match rubric.filter(|rubric| shares_a_criterion(rubric, group)) {
            None => decisions.extend_from_slice(group),
            Some(rubric) => {
                for criterion in rubric.criteria() {
                    let row = copy_decisions(criterion, group);
                    if row.decision.ungraded.as_ref().is_some_and(|why| why.kind == UngradedKind::NotJudged) {
                        unanswered.push((row.grader.clone(), criterion.id.clone()));
                    }

                    let votes = row.panel.is_some().then(|| current_votes(group, criterion));
                    decisions.push(row);

                    decisions.extend(votes.into_iter().flatten());
                }

                let decided = group.iter().filter(|row| !row.is_vote());
                let ids = decided.filter_map(|row| row.criterion()).map(|criterion| &criterion.id);
                let gone = ids.filter(|id| !rubric.criteria().iter().any(|kept| kept.id == **id));
                dropped.extend(gone.map(|id| (group[0].grader.clone(), id.clone())));
            }
        }
    }

    recombine(&mut decisions);

    if let Some(thresholds) = thresholds {
        for row in &mut decisions {
            row.thresholds = thresholds;
        }
    }

    let result = score_record(&record.result, &decisions);
    RescoreResult { record: CaseRecord { result, decisions }, unanswered, dropped }
}

/// The result row for `decisions`. Everything but the scores is taken from `stored`.
pub fn score_record(stored: &ResultRow, decisions: &[CaseDecision]) -> ResultRow {
    let Some(thresholds) = decisions.first().map(|row| row.thresholds) else { return stored.clone() };
    let groups: Vec<&[CaseDecision]> = decisions.chunk_by(|a, b| a.grader == b.grader).collect();

    // A run can't have written rows that are not a valid rubric, and a grader without rows failed before it decided
    // anything. The stored result stays in both cases.
    if groups.iter().any(|group| grader_outcome(&group.iter().collect::<Vec<_>>(), thresholds).is_err()) {
        return stored.clone();
    }

    let decided: HashSet<&str> = groups.iter().map(|group| group[0].grader.as_ref()).collect();
    if stored.graders.iter().any(|grader| !decided.contains(grader.name.as_str())) {
        return stored.clone();
    }

    let mut rows: HashMap<&str, &GraderRow> = HashMap::new();
    for grader in &stored.graders {
        rows.entry(&grader.name).or_insert(grader);
    }

    let graded: Vec<GraderDecisions<'_>> = groups
        .iter()
        .filter_map(|decisions| {
            let first = decisions.first()?;
            let row = rows.get(first.grader.as_ref());
            Some(GraderDecisions {
                name: &first.grader,
                type_name: row.map_or("rubrics", |row| &row.type_name),
                weighting: first.weighting,
                settings: row.and_then(|row| row.settings.clone()),
                decisions: decisions.iter().collect(),
            })
        })
        .collect();

    let trials = stored.trials.map(|plan| TrialPlan { thresholds, ..plan });
    let row = ResultRow { trials, tokens: Tokens::default(), ..stored.clone() };
    let head = CaseHead { row, cost: Cost::ZERO };
    // Scoring again does not change the cost.
    ResultRow {
        tokens: stored.tokens,
        cost_usd: stored.cost_usd,
        cost_partial: stored.cost_partial,
        ..assemble(head, &graded, thresholds)
    }
}

/// The votes on a criterion, with its present text and weight.
fn current_votes(group: &[CaseDecision], criterion: &Criterion) -> Vec<CaseDecision> {
    let votes = group.iter().filter(|row| row.is_vote() && has_id(row, criterion));
    votes.map(|row| with_current_criterion(row, criterion)).collect()
}

/// The decision, with the criterion's present text and weight.
pub(crate) fn with_current_criterion(row: &CaseDecision, criterion: &Criterion) -> CaseDecision {
    let finding = Finding::Criterion { criterion: criterion.clone(), outcome: row.decision.outcome() };
    CaseDecision { decision: Decision { finding, ..row.decision.clone() }, ..row.clone() }
}

/// Whether the criterion does not allow the decision: `not_applicable` although it always applies.
pub(crate) fn is_forbidden(row: &CaseDecision, criterion: &Criterion) -> bool {
    !criterion.may_not_apply && row.decision.outcome() == Outcome::NotApplicable
}

/// Whether a decision on one criterion is also a decision on the other.
pub(crate) fn reads_the_same(was: &Criterion, now: &Criterion) -> bool {
    was.text == now.text && was.scale == now.scale && was.operator == now.operator
}

pub(crate) fn has_id(row: &CaseDecision, criterion: &Criterion) -> bool {
    row.criterion().is_some_and(|stored| stored.id == criterion.id)
}

/// Computes every panel's decision again from the votes that follow it.
pub(crate) fn recombine(decisions: &mut [CaseDecision]) {
    for at in 0..decisions.len() {
        if decisions[at].panel.is_some() {
            let votes = decisions[at + 1..].iter().take_while(|row| row.is_vote()).count();
            decisions[at] = recombine_votes(&decisions[at], &decisions[at + 1..=at + votes]);
        }
    }
}

fn shares_a_criterion(rubric: &Rubric, rows: &[CaseDecision]) -> bool {
    rows.iter().any(|row| rubric.criteria().iter().any(|criterion| has_id(row, criterion)))
}

fn copy_decisions(criterion: &Criterion, group: &[CaseDecision]) -> CaseDecision {
    let stored = group.iter().find(|row| has_id(row, criterion));
    // Votes of a panel too: they are combined again.
    let is_forbidden = group.iter().any(|row| has_id(row, criterion) && is_forbidden(row, criterion));
    let is_readable = |row: &CaseDecision| row.criterion().is_some_and(|was| reads_the_same(was, criterion));
    if let Some(row) = stored.filter(|row| is_readable(row) && !is_forbidden) {
        return with_current_criterion(row, criterion);
    }

    let message = match stored {
        Some(row) if is_readable(row) => {
            "the decision was `not_applicable`, which the criterion no longer allows; run the case again to judge it"
        }
        Some(_) => "the criterion changed; run the case again to judge it",
        None => "the criterion was added after the run; run the case again to judge it",
    };
    let ungraded = UngradedReason { kind: UngradedKind::NotJudged, message: message.to_owned() };

    // The group has at least one row, because it shares a criterion with the rubric.
    let pattern = stored.unwrap_or(&group[0]);
    let judge = pattern.decision.judge.clone();
    CaseDecision {
        decision: Decision::ungraded(judge, criterion.clone(), ungraded),
        vote: None,
        panel: None,
        ..pattern.clone()
    }
}
