//! What happens during a run. Everything a person sees is drawn from these.

use std::sync::Arc;

use assize_store::ResultRow;

/// One happening.
#[derive(Debug, Clone)]
pub enum Event {
    /// Work on a case began.
    CaseStarted {
        /// Name of its suite.
        suite: Arc<str>,
        /// Its id.
        case_id: Arc<str>,
    },
    /// A case is finished and recorded.
    CaseFinished {
        /// What became of it.
        row: Arc<ResultRow>,
    },
    /// The run was asked to stop; cases in flight are given up.
    Stopping,
}
