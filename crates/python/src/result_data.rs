//! A result, and the words and numbers of it that objects and tables share.

use std::sync::Arc;

use assize_engine::{ResultRow, SampleResult};
use assize_rubric::Cost;

/// A result, with fields that only a case of a stored run has.
pub(crate) struct ResultData {
    pub(crate) result: SampleResult,
    pub(crate) case: Option<CaseData>,
}

/// The stored row of a case.
pub(crate) struct CaseData {
    pub(crate) row: ResultRow,
    /// The grader of each decision.
    pub(crate) graders: Vec<Arc<str>>,
}

impl ResultData {
    /// Name of the grader of a decision, in a stored run.
    pub(crate) fn grader(&self, decision: usize) -> Option<&str> {
        self.case.as_ref()?.graders.get(decision).map(|name| &**name)
    }
}

pub(crate) fn gates_failed(result: &SampleResult) -> Vec<String> {
    let name = |gate: &assize_store::GateRow| gate.criterion.clone().unwrap_or_else(|| gate.grader.clone());
    result.gates_failed.iter().map(name).collect()
}

pub(crate) fn known_cost(result: &SampleResult) -> f64 {
    Cost::from_parts(result.cost_usd, result.cost_partial).lower_bound().as_dollars()
}
