//! Rubrics of a grader: read once, made ready once for each set of values of their variables.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use assize_diagnostic::{Diagnostic, Severity};
use assize_document::codes;
use assize_engine::{PreparedRubric, ProcessContext, SampleGrader};
use assize_evalfile::{LoadedRubric, read_rubric_file_with, read_rubric_with};
use serde_json::Value;

use crate::failure::LibraryError;

/// Rubrics that are kept ready.
const MAX_PREPARED: usize = 512;

/// Text of a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RubricText {
    /// Path that diagnostics show; its ending names the syntax.
    path: PathBuf,
    text: String,
    /// True if it is a file, in which variables of the environment are replaced.
    is_file: bool,
}

impl RubricText {
    /// A rubric that was given as text, or the file at a path.
    ///
    /// # Errors
    /// When the file can't be read.
    pub(crate) fn new(
        path: PathBuf,
        text: Option<String>,
        process: &ProcessContext,
    ) -> Result<Self, LibraryError> {
        if let Some(text) = text {
            return Ok(Self { path, text, is_file: false });
        }

        let text = assize_files::read_text(&process.resolve(&path)).map_err(|error| {
            LibraryError::usage(format!("can't read the rubric `{}`: {error}", path.display()))
        })?;
        Ok(Self { path, text, is_file: true })
    }

    fn load(
        &self,
        vars: Option<&BTreeMap<String, Value>>,
        process: &ProcessContext,
    ) -> Result<LoadedRubric, LibraryError> {
        let none = BTreeMap::new();
        let vars = vars.unwrap_or(&none);
        let loaded = if self.is_file {
            read_rubric_file_with(&self.path, &self.text, &process.load_options(&[]), vars)
        } else {
            read_rubric_with(&self.path, &self.text, vars)
        };

        // The reward of a sample must not rest on the name of a variable that nobody set.
        let is_problem =
            |found: &Diagnostic| found.severity == Severity::Error || found.code == codes::UNKNOWN_VARIABLE;
        if loaded.diagnostics.iter().any(is_problem) {
            Err(LibraryError::rubric(&loaded))
        } else {
            Ok(loaded)
        }
    }
}

/// Rubrics that are ready, by their text and the values of their variables.
#[derive(Default)]
pub(crate) struct RubricCache(Mutex<HashMap<(RubricText, String), Arc<PreparedRubric>>>);

impl RubricCache {
    /// A rubric with the judges of a grader.
    ///
    /// # Errors
    /// When it has problems, or a judge can't be used.
    pub(crate) fn prepare(
        &self,
        rubric: &RubricText,
        vars: Option<&BTreeMap<String, Value>>,
        grader: &SampleGrader,
        process: &ProcessContext,
    ) -> Result<Arc<PreparedRubric>, LibraryError> {
        let vars = vars.filter(|_| rubric.text.contains("{{"));
        let key = (rubric.clone(), vars.map(serde_json::to_string).and_then(Result::ok).unwrap_or_default());
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(known));
        }

        let made = Arc::new(grader.prepare(&rubric.load(vars, process)?)?);
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= MAX_PREPARED {
            ready.clear();
        }
        ready.insert(key, Arc::clone(&made));
        Ok(made)
    }
}
