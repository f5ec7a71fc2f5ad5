//! Tasks of a run: each works on one item and ends with its record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use assize_rubric::{UngradedKind, UngradedReason};
use assize_store::{CaseErrorKind, CaseRecord, CaseRows, StoreError};
use assize_workspace::LeaseQueuePosition;
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use crate::WorkItem;
use crate::case_identity::question_row;
use crate::dependencies::BlockedItem;
use crate::fingerprint::fingerprint;
use crate::slots::WorkerSlots;
use crate::work::{blocked_record, panic_record, work};

/// Result of a task: nothing if the limit was reached before there was a slot for the item.
pub(crate) type TaskResult = Option<FinishedCase>;

/// A finished item with its record and the rows of that, ready to be written.
pub(crate) struct FinishedCase {
    pub(crate) item: WorkItem,
    pub(crate) record: CaseRecord,
    pub(crate) rows: Result<CaseRows, StoreError>,
}

impl FinishedCase {
    /// Returns true if the record lacks something that was given up rather than tried.
    pub(crate) fn was_cut_short(&self) -> bool {
        let given_up = |reason: &UngradedReason| reason.kind == UngradedKind::Cancelled;
        let CaseRecord { result, decisions } = &self.record;
        result.error.as_ref().is_some_and(|error| error.kind == CaseErrorKind::Cancelled)
            || decisions.iter().any(|row| row.decision.ungraded.as_ref().is_some_and(given_up))
    }
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
        return None;
    }

    let inputs = fingerprint(&item);
    let record = match blocked {
        Some(blocked) => blocked_record(&item, blocked),
        None => work_or_panic_record(&item, turn).await,
    };

    // Encoded here rather than by the writer, so that all threads share the work.
    let rows = CaseRows::new(&record.decisions, &record.result, Some(inputs))
        .and_then(|rows| rows.with_question(&question_row(&item)));
    Some(FinishedCase { item, record, rows })
}

/// Works on an item. A panic becomes the record of the item: it costs one case, not the run.
async fn work_or_panic_record(item: &WorkItem, turn: Option<LeaseQueuePosition>) -> CaseRecord {
    let panic = match AssertUnwindSafe(work(item, turn)).catch_unwind().await {
        Ok(record) => return record,
        Err(panic) => panic,
    };

    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    panic_record(item, format!("a defect in assize: {text}"))
}
