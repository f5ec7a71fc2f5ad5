//! Stored runs, and the cases of eval files.

use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::render::{TextOptions, to_text};
use assize_engine::{
    CaseRecord, Engine, EngineError, GradeSummary, OnUngraded, RewardKind, RunInfo, SamplePlace,
    SampleResult, concluded_info, runs, stored_records,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::LibraryError;
use crate::grader::process_context;
use crate::result_data::{CaseData, ResultData};
use crate::results::{Results, to_dict};

/// A stored run.
#[pyclass(frozen, module = "assize_native")]
pub(crate) struct StoredRun {
    info: RunInfo,
    folder: PathBuf,
    results: Py<Results>,
}

#[pymethods]
impl StoredRun {
    /// Id of the run.
    #[getter]
    fn run_id(&self) -> &str {
        &self.info.run_id
    }

    /// Folder of the run.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// When it began, RFC 3339 in UTC.
    #[getter]
    fn started_at(&self) -> &str {
        &self.info.started_at
    }

    /// Exit code; None for a run that has not ended.
    #[getter]
    fn exit_code(&self) -> Option<u8> {
        self.info.summary.as_ref().map(|summary| summary.exit_code)
    }

    /// A result for each case that has one.
    #[getter]
    fn results(&self, py: Python<'_>) -> Py<Results> {
        self.results.clone_ref(py)
    }

    /// The description of the run with its settings and its summary: the content of `run.json`, with the result that
    /// people's labels give it now.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.info)
    }

    fn __repr__(&self) -> String {
        format!("Run(run_id={:?}, results={})", self.info.run_id, self.results.get().items.len())
    }
}

/// Reads a stored run: a folder, an id in `.assize/runs`, `last`, or `last~N`.
#[pyfunction]
pub(crate) fn load_run(py: Python<'_>, name: String, folder: PathBuf) -> PyResult<StoredRun> {
    let read = py.detach(move || {
        let context = process_context(&folder);
        let found = runs::find_run(&name, &context)?;
        let info = concluded_info(&found, &context)?;
        // Rows are stored in the order in which cases finish, with their position in the files.
        let mut records = stored_records(&found)?.collect::<Result<Vec<_>, _>>()?;
        records.sort_by_key(|record| record.result.place);

        let (mut items, mut summary) = (Vec::with_capacity(records.len()), GradeSummary::default());
        for (index, record) in records.into_iter().enumerate() {
            let data = stored_result(index, record);
            summary.add(&data.result, OnUngraded::Null);
            items.push(Arc::new(data));
        }
        Ok::<_, EngineError>((info, found.path().to_owned(), Results { items, summary }))
    });
    let (info, folder, results) = read.map_err(LibraryError::from)?;

    Ok(StoredRun { info, folder, results: Py::new(py, results)? })
}

/// The result of a stored case.
fn stored_result(index: usize, record: CaseRecord) -> ResultData {
    let row = record.result.clone();
    let graders = row.graders.iter();
    let names = graders.flat_map(|grader| grader.criteria.iter().map(|_| Arc::from(grader.name.as_str())));
    let graders = names.collect();
    let place = SamplePlace { index, id: row.case_id.to_string(), group: None };
    let hash = row.case_hash.clone().unwrap_or_default();

    let result = SampleResult::new(place, record, RewardKind::Score, OnUngraded::Null, &hash);
    ResultData { result, case: Some(CaseData { row, graders }) }
}

/// The cases of an eval file: name of the suite, id, line.
#[pyfunction]
pub(crate) fn eval_cases(
    py: Python<'_>,
    path: PathBuf,
    folder: PathBuf,
) -> PyResult<Vec<(String, String, usize)>> {
    let read = py.detach(move || {
        let engine = Engine::new(process_context(&folder), |_| {});
        let loaded = engine.load(&[path], &[])?;

        let mut cases = Vec::new();
        for file in &loaded.files {
            let suite = file.suite.as_ref();
            if loaded.tally().0 > 0 || suite.is_none() {
                let found = to_text(&file.diagnostics, &file.sources, TextOptions::default());
                return Err(LibraryError::from(EngineError::new(
                    assize_engine::EngineErrorKind::InvalidFile,
                    format!("`{}` has errors", file.path.display()),
                ))
                .with_details(&found));
            }
            let name = suite.map(|suite| suite.name.clone()).unwrap_or_default();
            for case in &file.cases {
                let case = case.map_err(|error| LibraryError::usage(error.to_string()))?;
                cases.push((name.clone(), case.id.to_string(), case.place.line));
            }
        }
        Ok(cases)
    });
    Ok(read?)
}
