//! Works on one item, from its question to its record.

use assize_rubric::Cost;
use assize_store::{CaseError, CaseErrorKind, CaseRecord, CaseStage, ResultRow, ToolCallRow};
use assize_targets::TargetAnswer;
use assize_workspace::LeaseQueuePosition;
use futures_util::future::join_all;
use tokio::time::Instant;

use crate::answer::{case_head, latency_ms, obtain_answer};
use crate::assemble::{CaseHead, GraderDecisions, assemble};
use crate::conversation::run_conversation;
use crate::dependencies::BlockedItem;
use crate::grader_identity::hash_settings;
use crate::grading::{GradingContext, change_answer, grade};
use crate::material::target_input;
use crate::{ItemSource, WorkItem, workspace};

/// Runs the target of an item and grades the answer. Failures become part of the record; this never fails. An answer
/// that is compared with others, or stored for them, is put into `compared`.
pub(crate) async fn work(
    item: &WorkItem,
    turn: Option<LeaseQueuePosition>,
    compared: &mut Option<Box<TargetAnswer>>,
) -> CaseRecord {
    let begun = Instant::now();
    let mut head = case_head(item);
    let without_grades = |mut head: CaseHead, error| {
        head.row.duration_ms = to_millis(begun);
        unanswered(item, head, error)
    };
    let stay = match Box::pin(workspace::acquire_workspace(item, turn)).await {
        Ok(stay) => stay,
        Err(error) => return without_grades(head, error),
    };
    let is_missing = matches!(item.source, ItemSource::Missing { .. });
    if let Some(talk) = item.case.conversation.as_ref().filter(|_| !is_missing) {
        let mut record = Box::pin(run_conversation(item, talk, stay, head)).await;
        record.result.duration_ms = to_millis(begun);
        return record;
    }

    let input = || target_input(&item.case, item.trial);
    let answer = match obtain_answer(item, input, stay.as_ref(), &mut head).await {
        Ok(answer) => answer,
        Err(error) => {
            // The reason why there is no answer is more important than a later failure of the workspace.
            Box::pin(workspace::release_workspace(stay)).await;
            return without_grades(head, error);
        }
    };

    head.row.latency_ms = latency_ms(&answer);
    head.row.answer = Some(answer.text.clone());
    head.row.file_changes.clone_from(&answer.file_changes);
    head.row.tool_calls = answer.tool_calls.iter().map(ToolCallRow::from).collect();

    let changed = match change_answer(item, &answer).await {
        Ok(changed) => changed,
        Err(message) => {
            Box::pin(workspace::release_workspace(stay)).await;
            let error = CaseError { stage: CaseStage::Grade, kind: CaseErrorKind::BadOutput, message };
            return without_grades(head, error);
        }
    };
    let context = GradingContext::new(item, &changed.answer)
        .with_value(changed.value)
        .with_before_test(changed.before_test);
    let graders = &item.case.graders;
    let decided = join_all(graders.iter().map(|grader| grade(&context, grader))).await;
    let graded: Vec<GraderDecisions<'_>> = graders
        .iter()
        .zip(&decided)
        .map(|(grader, decisions)| GraderDecisions {
            name: &grader.name,
            type_name: &grader.type_name,
            weighting: grader.weighting,
            settings: Some(hash_settings(item, grader)),
            decisions: decisions.iter().collect(),
        })
        .collect();

    // Grading programs may use the workspace, so it is released after them.
    head.row.error = Box::pin(workspace::release_workspace(stay)).await;
    head.row.duration_ms = to_millis(begun);

    let result = assemble(head, &graded, item.thresholds);
    let is_stored = item.case.history.as_ref().is_some_and(|history| history.stores.is_some());
    if item.relations.rivals.is_some() || is_stored {
        *compared = Some(Box::new(changed.answer.into_owned()));
    }
    CaseRecord { result, decisions: decided.into_iter().flatten().collect() }
}

/// The record of an item without grades.
fn unanswered(item: &WorkItem, mut head: CaseHead, error: CaseError) -> CaseRecord {
    head.row.error = Some(error);
    CaseRecord { result: assemble(head, &[], item.thresholds), decisions: Vec::new() }
}

/// The record of an item that was not started for this reason.
pub(crate) fn error_record(item: &WorkItem, error: CaseError) -> CaseRecord {
    unanswered(item, case_head(item), error)
}

/// The record of an item whose work panicked, so that the case is not lost.
pub(crate) fn panic_record(item: &WorkItem, message: String) -> CaseRecord {
    let error = CaseError { stage: CaseStage::Grade, kind: CaseErrorKind::Internal, message };
    // What was spent before the panic is unknown.
    unanswered(item, CaseHead { cost: Cost::UNKNOWN, ..case_head(item) }, error)
}

/// The record of an item that is not run because of a dependency.
pub(crate) fn blocked_record(item: &WorkItem, blocked: BlockedItem) -> CaseRecord {
    let error = CaseError { stage: CaseStage::Dependency, kind: blocked.kind, message: blocked.reason };
    let record = error_record(item, error);
    CaseRecord { result: ResultRow { verdict: blocked.verdict, ..record.result }, ..record }
}

fn to_millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
