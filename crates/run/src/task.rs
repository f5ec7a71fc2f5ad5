//! Tasks of a run. Each works on one item and ends with its record.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use assize_llm::{Redactor, in_order_of};
use assize_rubric::{CaseDecision, CriterionScale, Finding};
use assize_store::{CaseRecord, CaseRows, StoreError, shorten_tool_calls};
use assize_targets::TargetAnswer;
use assize_workspace::LeaseQueuePosition;
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::WorkItem;
use crate::case_hooks::apply_before_hooks;
use crate::case_identity::question_row;
use crate::dependencies::BlockedItem;
use crate::fingerprint::fingerprint;
use crate::finished_case::FinishedCase;
use crate::slots::WorkerSlots;
use crate::work::{blocked_record, error_record, panic_record, work};

/// The result of a task; empty if the limit was reached before it got a slot.
#[derive(Default)]
pub(crate) struct TaskResult {
    /// The case that was worked on.
    pub(crate) case: Option<FinishedCase>,
    /// Cases whose answers were compared.
    pub(crate) compared: Vec<FinishedCase>,
}

/// Waits for a worker slot, then works on the item. A blocked item is recorded without being run.
pub(crate) async fn run_in_slot(
    item: WorkItem,
    blocked: Option<BlockedItem>,
    turn: Option<LeaseQueuePosition>,
    slots: Arc<WorkerSlots>,
    limit: CancellationToken,
) -> TaskResult {
    let _slot = slots.acquire().await;

    if limit.is_cancelled() {
        return TaskResult::default();
    }

    // Fingerprint of the planned case, before hooks change it: a resumed run has only the plan to compare with.
    let inputs = fingerprint(&item);
    let mut answer = None;
    let (item, mut record, is_hooked) = match blocked {
        Some(blocked) => {
            let record = blocked_record(&item, blocked);
            (item, record, false)
        }
        None => match apply_before_hooks(item).await {
            Ok(item) => {
                let work = work_or_panic_record(&item, turn, &mut answer);
                let record = in_order_of(item.place, work).await;
                (item, record, true)
            }
            Err(failed) => {
                let (item, error) = *failed;
                let record = error_record(&item, error);
                (item, record, false)
            }
        },
    };
    finish_record(&mut record, item.programs.redactor.as_deref());
    if let Some(hooks) = item.hooks.as_ref().filter(|_| is_hooked) {
        hooks.after_case(&item, &record).await;
    }

    // Encoded here and not by the writer, so that all threads share the work.
    let rows = encode_rows(&item, &record, inputs.clone());
    let case = FinishedCase { item, record, rows, inputs, answer };
    TaskResult { case: Some(case), compared: Vec::new() }
}

/// Encodes the rows of a record.
pub(crate) fn encode_rows(
    item: &WorkItem,
    record: &CaseRecord,
    inputs: String,
) -> Result<CaseRows, StoreError> {
    CaseRows::new(&record.decisions, &record.result, Some(inputs))
        .and_then(|rows| rows.with_question(&question_row(item)))
}

/// Runs a single item outside a run. Nothing is stored, concurrency is not limited, and relations to other items have
/// no effect. It never fails: errors become part of the record.
pub async fn run_item(item: &WorkItem) -> CaseRecord {
    let mut record = work_or_panic_record(item, None, &mut None).await;
    finish_record(&mut record, item.programs.redactor.as_deref());

    record
}

/// Removes secrets from a record, and then cuts long texts. The other order would not find a secret that was cut.
pub(crate) fn finish_record(record: &mut CaseRecord, redactor: Option<&Redactor>) {
    if let Some(redactor) = redactor {
        hide_secrets(record, redactor);
    }
    record.result.tool_calls_dropped += shorten_tool_calls(&mut record.result.tool_calls);
}

/// Removes secrets of the environment from all texts of a record: model answers, given answers, criteria, quotes and
/// reasons of judges. Fields that identify the case stay.
fn hide_secrets(record: &mut CaseRecord, redactor: &Redactor) {
    let hide = |text: &mut String| {
        if let Cow::Owned(hidden) = redactor.redact_content(text) {
            *text = hidden;
        }
    };

    let CaseRecord { result, decisions } = record;
    result.answer.iter_mut().chain(&mut result.file_changes).for_each(hide);
    result.turns.iter_mut().filter_map(|turn| turn.answer.as_mut()).for_each(hide);
    for call in &mut result.tool_calls {
        hide(&mut call.tool);
        call.input.iter_mut().chain(&mut call.output).for_each(hide);
    }

    let errors = result.turns.iter_mut().map(|turn| &mut turn.error).chain([&mut result.error]);
    errors.flatten().for_each(|error| hide(&mut error.message));

    for grader in &mut result.graders {
        grader.error.iter_mut().for_each(hide);
        for criterion in &mut grader.criteria {
            hide(&mut criterion.reason);
            criterion.evidence.iter_mut().for_each(|evidence| hide(&mut evidence.quote));
        }
    }

    for CaseDecision { decision, .. } in decisions {
        hide(&mut decision.reason);
        decision.evidence.iter_mut().for_each(|evidence| hide(&mut evidence.quote));
        decision.ungraded.iter_mut().for_each(|ungraded| hide(&mut ungraded.message));
        decision.spent.replies.iter_mut().for_each(hide);

        match &mut decision.finding {
            Finding::Criterion { criterion, .. } => {
                hide(&mut criterion.text);
                if let CriterionScale::Bands(bands) = &mut criterion.scale {
                    bands.texts_mut().for_each(hide);
                }
            }
            Finding::Grader(finding) => {
                finding.score.as_mut().err().into_iter().for_each(hide);
                let notes = finding.notes.iter_mut();
                notes.flat_map(|note| [&mut note.text, &mut note.reason]).for_each(hide);
            }
            Finding::Preference(_) => {}
        }
    }
}

/// Works on an item. A panic becomes the record of the item, so it costs one case and not the run.
async fn work_or_panic_record(
    item: &WorkItem,
    turn: Option<LeaseQueuePosition>,
    answer: &mut Option<Box<TargetAnswer>>,
) -> CaseRecord {
    let panic = match AssertUnwindSafe(work(item, turn, answer)).catch_unwind().await {
        Ok(record) => return record,
        Err(panic) => panic,
    };

    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    panic_record(item, format!("internal error (please report it): {text}"))
}
