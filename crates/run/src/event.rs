//! Events of a run in the order in which they happen. All output for people is derived from them.

use std::sync::Arc;

use assize_store::ResultRow;

use crate::HaltReason;

/// An event of a run.
///
/// For each case there is [`Self::CaseStarted`], then [`Self::CaseSkipped`] if it is not run, then
/// [`Self::CaseFinished`] unless the run ends earlier. [`Self::CaseRedundant`] comes alone. Each of the other events
/// occurs at most once.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// A case was started. It may still wait for a worker slot.
    CaseStarted {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
    },
    /// A case that was started is not run, because a case it depends on did not pass. Its record has the same
    /// reason.
    CaseSkipped {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
        /// The reason in words.
        reason: String,
    },
    /// A trial of a case is dropped, because earlier ones settled the verdict. It has no record.
    CaseRedundant {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
        /// Number of the trial, from 1.
        trial: u32,
    },
    /// A case is finished and recorded.
    CaseFinished {
        /// Its result.
        row: Arc<ResultRow>,
    },
    /// No further case starts, because of the results so far. Cases in flight continue.
    Halted {
        /// The reason.
        reason: HaltReason,
    },
    /// No further case starts, because a limit such as the budget is reached. Cases in flight continue, and are
    /// recorded unless they lack something because of the limit.
    LimitReached,
    /// The run was cancelled. Cases in flight are cancelled.
    Stopping,
}
