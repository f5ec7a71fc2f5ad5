//! Events of a run, in the order in which they happen. Everything a person sees is drawn from these.

use std::sync::Arc;

use assize_store::ResultRow;

use crate::HaltReason;

/// One event.
///
/// For each case: [`Self::CaseStarted`], then [`Self::CaseSkipped`] if it is not run, then [`Self::CaseFinished`] unless
/// the run ends before. [`Self::CaseRedundant`] stands alone. The other events come at most once each.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// A case was taken up. It may still wait for a worker slot.
    CaseStarted {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
    },
    /// A case that was taken up is not run, because a case it depends on did not pass. Its record says so too.
    CaseSkipped {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
        /// The reason in words.
        reason: String,
    },
    /// A trial of a case is dropped, because those before it settled the verdict. It has no record.
    CaseRedundant {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
        /// Number of the trial, from 1.
        trial: u32,
    },
    /// A case is finished and its record is kept.
    CaseFinished {
        /// Its result.
        row: Arc<ResultRow>,
    },
    /// No further case starts, because of the cases recorded so far. Cases in flight go on.
    Halted {
        /// The reason.
        reason: HaltReason,
    },
    /// No further case starts, because a limit such as the budget is reached. Cases in flight go on, and are recorded
    /// unless they lack something because of the limit.
    LimitReached,
    /// The run was asked to stop. Cases in flight are given up.
    Stopping,
}
