//! The last step of cases whose answers are compared: one task for all answers to a test.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use assize_model::{Grader, GraderKind};
use assize_rubric::{Decision, JudgeIdentity, UngradedKind, UngradedReason};
use assize_store::CaseRecord;
use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use crate::finished_case::FinishedCase;
use crate::grading::{GradedRival, select};
use crate::rescore::score_record;
use crate::rivals::RivalGroup;
use crate::slots::WorkerSlots;
use crate::task::{TaskResult, encode_rows, finish_record};

/// Waits for a worker slot, then compares the answers of a group. Records nothing if the limit has been reached.
pub(crate) async fn compare_in_slot(
    mut cases: Vec<FinishedCase>,
    slots: Arc<WorkerSlots>,
    limit: CancellationToken,
) -> TaskResult {
    let _slot = slots.acquire().await;
    if limit.is_cancelled() {
        return TaskResult::default();
    }

    cases.sort_by_key(|case| case.item.place);
    let Some(group) = cases.first().and_then(|case| case.item.relations.rivals.clone()) else {
        return TaskResult { case: None, compared: cases };
    };
    let decided = decide_all(&cases, &group).await;
    for (grader, decisions) in decided {
        for (case, decision) in cases.iter_mut().zip(decisions) {
            put(&mut case.record, &grader, decision);
        }
    }

    for case in &mut cases {
        finish_record(&mut case.record, case.item.programs.redactor.as_deref());
        case.rows = encode_rows(&case.item, &case.record, case.inputs.clone());
    }
    TaskResult { case: None, compared: cases }
}

/// The decisions of all graders that compare the answers, each in the order of the cases.
async fn decide_all(cases: &[FinishedCase], group: &RivalGroup) -> Vec<(Arc<Grader>, Vec<Decision>)> {
    let rivals: Vec<GradedRival<'_>> = cases
        .iter()
        .map(|case| GradedRival { item: &case.item, answer: case.answer.as_deref(), record: &case.record })
        .collect();

    let mut decided = Vec::new();
    let graders = cases.first().map(|case| case.item.case.graders.as_slice()).unwrap_or_default();
    for grader in graders {
        let GraderKind::Selection(selection) = &grader.kind else { continue };
        let decisions = AssertUnwindSafe(select(&rivals, group, grader, selection)).catch_unwind().await;
        // A panic costs the comparison, not the run.
        let decisions = decisions.unwrap_or_else(|_| {
            let message = "internal error (please report it)".to_owned();
            let reason = UngradedReason { kind: UngradedKind::NotJudged, message };
            cases.iter().map(|_| Decision::unanswered(JudgeIdentity::default(), reason.clone())).collect()
        });
        decided.push((Arc::clone(grader), decisions));
    }

    decided
}

/// Puts a decision into a record, and scores the record again.
fn put(record: &mut CaseRecord, grader: &Grader, decision: Decision) {
    let Some(row) = record.decisions.iter_mut().find(|row| *row.grader == *grader.name) else { return };
    record.result.tokens.add(decision.spent.tokens);
    let cost = record.result.cost() + decision.spent.cost;
    record.result.cost_usd = cost.total();
    record.result.cost_partial = cost.to_partial();
    row.decision = decision;
    record.result = score_record(&record.result, &record.decisions);
}
