//! The request that a job is about, as the engine takes it.

use assize_engine::{EvalMode, EvalOptions};

/// Request for a run of eval files.
#[derive(Debug, Clone)]
pub struct EvalRequest {
    /// Number and order of executions.
    pub mode: EvalMode,
    /// Options.
    pub options: EvalOptions,
}

/// Reads the arguments of a job; the error says what is wrong with them.
pub type ArgumentReader = dyn Fn(&[String]) -> Result<EvalRequest, String> + Sync;
