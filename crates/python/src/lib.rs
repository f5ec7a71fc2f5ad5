//! The extension module `assize_native`: grading with the engine of Assize, for the Python package `assize`.
//!
//! Work runs on the threads of one runtime per process, without the GIL; Python waits for a job as a whole. The
//! names here are private to the package, which wraps them in the documented interface.

mod arrow;
mod decision;
mod failure;
mod grader;
mod grader_core;
mod job;
mod judge;
mod result_data;
mod results;
mod rubric;
mod run;
mod runtime;
mod sample;
mod settings;

/// Grading with the engine of Assize. The package `assize` is the interface to it.
#[pyo3::pymodule(gil_used = false)]
mod assize_native {
    #[pymodule_export]
    use crate::arrow::ArrowTable;
    #[pymodule_export]
    use crate::decision::{Decision, Evidence};
    #[pymodule_export]
    use crate::grader::Grader;
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::judge::JudgeTask;
    #[pymodule_export]
    use crate::results::{GradedResult, Results};
    #[pymodule_export]
    use crate::run::{StoredRun, eval_cases, load_run};

    /// Version of the engine.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
