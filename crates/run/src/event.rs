//! Events of a run, the source of all progress output.

use std::sync::Arc;

use assize_store::ResultRow;

/// An event of a run.
#[derive(Debug, Clone)]
pub enum Event {
    /// Work on a case began.
    CaseStarted {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
    },
    /// A case is finished and stored.
    CaseFinished {
        /// The stored result.
        row: Arc<ResultRow>,
    },
    /// The run was asked to stop; unfinished cases are abandoned.
    Stopping,
}
