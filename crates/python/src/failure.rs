//! Failures as Python exceptions. The classes are defined in `assize._errors`, because a module for the stable
//! ABI of Python 3.10 can't subclass exceptions itself.

use assize_diagnostic::render::{TextOptions, to_text};
use assize_engine::{EngineError, EngineErrorKind};
use assize_evalfile::LoadedRubric;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// A failure that is not an exception yet, so that it can be created without the GIL.
#[derive(Debug)]
pub(crate) struct LibraryError {
    /// Name of the class.
    class: &'static str,
    message: String,
}

impl LibraryError {
    /// Wrong arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { class: "UsageError", message: message.into() }
    }

    /// The grader was created before the process was forked.
    pub(crate) fn forked() -> Self {
        let message = "this grader was made before the process was forked, and its threads exist only in the parent; \
                       make a new `assize.Grader` in the child, or start children with the method `spawn`";
        Self { class: "ForkError", message: message.to_owned() }
    }

    /// A failure that the caller can do nothing about.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { class: "InternalError", message: message.into() }
    }

    /// A rubric with problems, each with its position.
    pub(crate) fn rubric(loaded: &LoadedRubric) -> Self {
        let found = to_text(&loaded.diagnostics, &loaded.sources, TextOptions::default());
        Self { class: "InvalidFileError", message: format!("the rubric has errors\n{}", found.trim_end()) }
    }

    /// Adds details to the message, such as the diagnostics of a file.
    pub(crate) fn with_details(self, details: &str) -> Self {
        let details = details.trim_end();
        if details.is_empty() {
            self
        } else {
            Self { message: format!("{}\n{details}", self.message), ..self }
        }
    }
}

impl From<EngineError> for LibraryError {
    fn from(error: EngineError) -> Self {
        let class = match error.kind {
            EngineErrorKind::Usage => "UsageError",
            EngineErrorKind::InvalidFile => "InvalidFileError",
            EngineErrorKind::Unrunnable => "JudgeError",
            EngineErrorKind::Unreadable => "UnreadableError",
            EngineErrorKind::Storage => "StorageError",
            EngineErrorKind::Budget => "BudgetError",
            _ => "InternalError",
        };
        Self { class, message: error.message }
    }
}

impl From<LibraryError> for PyErr {
    fn from(error: LibraryError) -> Self {
        Python::attach(|py| {
            let class = py.import("assize._errors").and_then(|module| module.getattr(error.class));
            match class.and_then(|class| class.call1((&error.message,))) {
                Ok(exception) => Self::from_value(exception),
                Err(_) => PyRuntimeError::new_err(error.message),
            }
        })
    }
}

/// The exception for samples without a reward, with all results.
pub(crate) fn ungraded_error(py: Python<'_>, message: String, results: Bound<'_, PyList>) -> PyErr {
    let class = py.import("assize._errors").and_then(|module| module.getattr("UngradedError"));
    match class.and_then(|class| class.call1((&message, results))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
