//! A case that has ended, before its rows are written.

use assize_rubric::{UngradedKind, UngradedReason};
use assize_store::{CaseErrorKind, CaseRecord, CaseRows, StoreError};
use assize_targets::TargetAnswer;

use crate::WorkItem;

/// A finished item with its record and encoded rows, ready to be written.
pub(crate) struct FinishedCase {
    pub(crate) item: WorkItem,
    pub(crate) record: CaseRecord,
    pub(crate) rows: Result<CaseRows, StoreError>,
    /// Fingerprint of everything that the result depends on.
    pub(crate) inputs: String,
    /// The answer that was graded, if it will be compared with others.
    pub(crate) answer: Option<Box<TargetAnswer>>,
}

impl FinishedCase {
    /// Whether the record lacks something that was cancelled.
    pub(crate) fn was_cut_short(&self) -> bool {
        let given_up = |reason: &UngradedReason| reason.kind == UngradedKind::Cancelled;
        let CaseRecord { result, decisions } = &self.record;
        result.error.as_ref().is_some_and(|error| error.kind == CaseErrorKind::Cancelled)
            || decisions.iter().any(|row| row.decision.ungraded.as_ref().is_some_and(given_up))
    }

    /// Whether the record lacks something because a model server failed or refused.
    pub(crate) fn lacks_server(&self) -> bool {
        const KINDS: [CaseErrorKind; 7] = [
            CaseErrorKind::Authentication,
            CaseErrorKind::Connection,
            CaseErrorKind::NotFound,
            CaseErrorKind::Overloaded,
            CaseErrorKind::PermissionDenied,
            CaseErrorKind::Server,
            CaseErrorKind::Timeout,
        ];

        let failed = |reason: &UngradedReason| reason.kind == UngradedKind::Transport;
        let CaseRecord { result, decisions } = &self.record;
        result.error.as_ref().is_some_and(|error| KINDS.contains(&error.kind))
            || decisions.iter().any(|row| row.decision.ungraded.as_ref().is_some_and(failed))
    }

    /// Whether others may wait for the result, or the run may end with it.
    pub(crate) fn is_awaited(&self) -> bool {
        let relations = &self.item.relations;
        relations.is_awaited
            || relations.stops_at_errors
            || relations.trials.count > 1
            || self.item.workplace.is_some()
    }
}
