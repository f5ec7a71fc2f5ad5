//! The request of a job, in the engine's types.

use assize_engine::{EvalMode, EvalOptions};

/// A request to run eval files.
#[derive(Debug, Clone)]
pub struct EvalRequest {
    /// Number and order of executions.
    pub mode: EvalMode,
    /// Options.
    pub options: EvalOptions,
}

/// Parses the arguments of a job; the error describes the problem.
pub type ArgumentReader = dyn Fn(&[String]) -> Result<EvalRequest, String> + Sync;
