//! Results in the form for Python. They become Python objects only when they are accessed.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_engine::GradeSummary;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PySlice};
use serde::Serialize;

use crate::arrow::{ArrowTable, decision_table, result_table};
use crate::decision::Decision;
use crate::result_data::{ResultData, gates_failed, known_cost};

/// Result of one sample. Unknown values are None, never made up.
#[pyclass(name = "Result", frozen, module = "assize_native")]
pub(crate) struct GradedResult(pub(crate) Arc<ResultData>);

#[pymethods]
impl GradedResult {
    /// Position of the sample in its batch, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.0.result.index
    }

    /// Id of the sample.
    #[getter]
    fn id(&self) -> &str {
        &self.0.result.id
    }

    /// Name of its group.
    #[getter]
    fn group(&self) -> Option<&str> {
        self.0.result.group.as_deref()
    }

    /// `graded`, `partial` or `ungraded`.
    #[getter]
    fn status(&self) -> &'static str {
        self.0.result.status.name()
    }

    /// The reward; None if it is unknown and no other policy was chosen.
    #[getter]
    fn reward(&self) -> Option<f64> {
        self.0.result.reward
    }

    /// True if the reward comes from `on_ungraded`.
    #[getter]
    fn reward_assumed(&self) -> bool {
        self.0.result.reward_assumed
    }

    /// Value of each criterion by its id, 0 to 1; None if it is ungraded or does not apply.
    #[getter]
    fn components(&self) -> BTreeMap<String, Option<f64>> {
        self.0.result.reward_components.clone()
    }

    /// Score of the rubric, 0 to 1.
    #[getter]
    fn score(&self) -> Option<f64> {
        self.0.result.score
    }

    /// Lowest score that the ungraded criteria could lead to.
    #[getter]
    fn low(&self) -> Option<f64> {
        self.0.result.score_low
    }

    /// Highest score that the ungraded criteria could lead to.
    #[getter]
    fn high(&self) -> Option<f64> {
        self.0.result.score_high
    }

    /// Share of the applicable weight that was judged, 0 to 1.
    #[getter]
    fn coverage(&self) -> Option<f64> {
        self.0.result.coverage
    }

    /// `pass`, `borderline`, `fail` or `incomplete`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.result.verdict.name()
    }

    /// Gates that failed, by the ids of their criteria.
    #[getter]
    fn gates_failed(&self) -> Vec<String> {
        gates_failed(&self.0.result)
    }

    /// The decisions, in the order of the rubric.
    #[getter]
    fn decisions(&self) -> Vec<Decision> {
        let decisions = self.0.result.decisions.iter().enumerate();
        decisions.map(|(at, decision)| Decision::new(decision, self.0.grader(at))).collect()
    }

    /// Why something is ungraded; None if nothing is.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.0.result.error.as_deref()
    }

    /// Number of judge calls, including those answered from the reply cache.
    #[getter]
    fn judge_calls(&self) -> u64 {
        self.0.result.judge_calls
    }

    /// Number of judge calls answered from the reply cache.
    #[getter]
    fn judge_calls_cached(&self) -> u64 {
        self.0.result.judge_calls_cached
    }

    /// Input tokens of the judges.
    #[getter]
    fn input_tokens(&self) -> Option<u64> {
        self.0.result.tokens.input
    }

    /// Output tokens of the judges.
    #[getter]
    fn output_tokens(&self) -> Option<u64> {
        self.0.result.tokens.output
    }

    /// Cost in US dollars; None if part of it is unknown.
    #[getter]
    fn cost_usd(&self) -> Option<f64> {
        self.0.result.cost_usd.map(assize_engine::Usd::as_dollars)
    }

    /// The known part of the cost, in US dollars.
    #[getter]
    fn known_cost_usd(&self) -> f64 {
        known_cost(&self.0.result)
    }

    /// Duration of the grading in milliseconds.
    #[getter]
    fn duration_ms(&self) -> u64 {
        self.0.result.duration_ms
    }

    /// Hash of everything that affects the result except the sample: judges, models, prompts, rubric.
    #[getter]
    fn judge_config_hash(&self) -> &str {
        &self.0.result.judge_config_hash
    }

    /// Name of the suite, in a stored run.
    #[getter]
    fn suite(&self) -> Option<&str> {
        self.0.case.as_ref().map(|case| &*case.row.suite)
    }

    /// Name of the target, in a stored run of one.
    #[getter]
    fn target(&self) -> Option<&str> {
        self.0.case.as_ref().and_then(|case| case.row.target.as_deref())
    }

    /// Number of the trial from 1, in a stored run.
    #[getter]
    fn repeat(&self) -> Option<u32> {
        self.0.case.as_ref().map(|case| case.row.trial)
    }

    /// The answer that was graded, in a stored run.
    #[getter]
    fn answer(&self) -> Option<&str> {
        self.0.case.as_ref().and_then(|case| case.row.answer.as_deref())
    }

    /// Everything as JSON values, in the form of the grading service or of a run's stored row.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.0.case {
            Some(case) => to_dict(py, &case.row),
            None => to_dict(py, &self.0.result),
        }
    }

    fn __repr__(&self) -> String {
        let result = &self.0.result;
        let reward = result.reward.map_or_else(|| "None".to_owned(), |reward| format!("{reward:?}"));
        format!("Result(id={:?}, status={:?}, reward={reward})", result.id, result.status.name())
    }
}

/// Results in the order of their samples: a sequence, and an Arrow table with a row for each.
#[pyclass(frozen, sequence, module = "assize_native")]
pub(crate) struct Results {
    pub(crate) items: Vec<Arc<ResultData>>,
    pub(crate) summary: GradeSummary,
}

/// An index into a sequence, or a slice.
#[derive(FromPyObject)]
enum SequenceIndex<'py> {
    One(isize),
    Several(Bound<'py, PySlice>),
}

#[pymethods]
impl Results {
    /// The rewards.
    #[getter]
    fn rewards(&self) -> Vec<Option<f64>> {
        self.items.iter().map(|data| data.result.reward).collect()
    }

    /// The scores.
    #[getter]
    fn scores(&self) -> Vec<Option<f64>> {
        self.items.iter().map(|data| data.result.score).collect()
    }

    /// Counts by status, calls and cost of all samples, including dropped ones.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let summary = to_dict(py, &self.summary)?;
        // The job does not measure its total time; each result has the time of its sample.
        summary.del_item("duration_ms")?;
        Ok(summary)
    }

    /// Table with a row for each decision.
    fn decisions(&self) -> PyResult<ArrowTable> {
        decision_table(&self.items)
    }

    fn __len__(&self) -> usize {
        self.items.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: SequenceIndex<'py>) -> PyResult<Bound<'py, PyAny>> {
        match index {
            SequenceIndex::One(index) => {
                let place = if index < 0 { index + self.items.len().cast_signed() } else { index };
                let found = usize::try_from(place).ok().and_then(|place| self.items.get(place));
                let data = found.ok_or_else(|| PyIndexError::new_err("there is no such result"))?;
                Ok(Bound::new(py, GradedResult(Arc::clone(data)))?.into_any())
            }
            SequenceIndex::Several(slice) => Ok(self.list(py)?.as_any().get_item(slice)?),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.list(py)?.as_any().try_iter()
    }

    /// The table, through the Arrow PyCapsule interface that polars, pandas, pyarrow and DuckDB read.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        result_table(&self.items)?.stream(py, requested_schema)
    }

    fn __repr__(&self) -> String {
        let GradeSummary { samples, graded, partial, ungraded, .. } = &self.summary;
        format!("Results(samples={samples}, graded={graded}, partial={partial}, ungraded={ungraded})")
    }
}

impl Results {
    fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.items.iter().map(|data| GradedResult(Arc::clone(data))))
    }
}

/// Converts one of our types to a dictionary of JSON values.
pub(crate) fn to_dict<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyDict>> {
    let text = serde_json::to_string(value)
        .map_err(|error| crate::failure::LibraryError::internal(error.to_string()))?;
    Ok(py.import("json")?.getattr("loads")?.call1((text,))?.cast_into::<PyDict>()?)
}
