//! Decisions in the form for Python.

use assize_engine::DecisionResult;
use assize_rubric::EvidenceQuote;
use pyo3::prelude::*;

/// A passage that a decision rests on.
#[pyclass(frozen, get_all, eq, hash, module = "assize_native")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Evidence {
    /// The passage, as the judge quoted it.
    quote: String,
    /// True if it was found in the answer.
    verified: bool,
}

#[pymethods]
impl Evidence {
    fn __repr__(&self) -> String {
        format!("Evidence(quote={:?}, verified={})", self.quote, if self.verified { "True" } else { "False" })
    }
}

/// Decision on one criterion.
#[pyclass(frozen, get_all, module = "assize_native")]
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    /// Name of the grader, in a stored run.
    grader: Option<String>,
    /// Id of the criterion, unique in its rubric.
    criterion: String,
    /// `met`, `unmet`, `scored`, `not_applicable` or `ungraded`.
    outcome: &'static str,
    /// The outcome from 0 to 1; None if nothing was decided or the criterion does not apply.
    value: Option<f64>,
    /// The score from 0 to 10, for `scored`.
    points: Option<f64>,
    /// Weight in the rubric.
    weight: f64,
    /// Rule of the gate, if the criterion gates.
    gate: Option<String>,
    /// Reason of the judge; for `ungraded`, why there is no decision.
    reason: String,
    /// Quotes that the decision rests on.
    evidence: Vec<Evidence>,
    /// Name of the judge.
    judge: String,
    /// Model as its server reports it.
    model: Option<String>,
    /// Kind of failure, such as `transport` or `malformed`; None for a decision.
    ungraded: Option<&'static str>,
}

#[pymethods]
impl Decision {
    fn __repr__(&self) -> String {
        format!(
            "Decision(criterion={:?}, outcome={:?}, reason={:?})",
            self.criterion, self.outcome, self.reason
        )
    }
}

impl Decision {
    /// A decision of a result; `grader` is set in a stored run.
    pub(crate) fn new(result: &DecisionResult, grader: Option<&str>) -> Self {
        let row = &result.decision;
        let evidence =
            |quote: &EvidenceQuote| Evidence { quote: quote.quote.clone(), verified: quote.verified };
        Self {
            grader: grader.map(str::to_owned),
            criterion: row.id.to_string(),
            outcome: row.outcome.name(),
            value: row.value,
            points: row.score_out_of_ten(),
            weight: row.weight,
            gate: row.gate.as_deref().map(str::to_owned),
            reason: row.reason.clone(),
            evidence: row.evidence.iter().map(evidence).collect(),
            judge: row.judge.name.to_string(),
            model: row.judge.model.as_deref().map(str::to_owned),
            ungraded: result.ungraded.as_ref().map(|reason| reason.kind.name()),
        }
    }
}
