//! Rubrics of a grader: read once, and prepared once for each set of variable values.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity};
use assize_document::codes;
use assize_engine::{PreparedRubric, ProcessContext, SampleGrader};
use assize_evalfile::{LoadedRubric, read_rubric_file_with, read_rubric_with};
use parking_lot::Mutex;
use serde_json::Value;

use crate::failure::LibraryError;

/// Number of prepared rubrics that are kept.
const MAX_PREPARED: usize = 512;

/// Text of a rubric.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RubricText {
    /// Path that diagnostics show; its extension gives the syntax.
    path: PathBuf,
    text: String,
    /// True for a file, in which environment variables are replaced.
    is_file: bool,
}

impl RubricText {
    /// A rubric given as text, or the file at a path.
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

        // The reward of a sample must not depend on a variable that was never set.
        let is_problem =
            |found: &Diagnostic| found.severity == Severity::Error || found.code == codes::UNKNOWN_VARIABLE;
        if loaded.diagnostics.iter().any(is_problem) {
            Err(LibraryError::rubric(&loaded))
        } else {
            Ok(loaded)
        }
    }
}

/// Prepared rubrics, by their text and variable values.
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
        if let Some(known) = self.0.lock().get(&key) {
            return Ok(Arc::clone(known));
        }

        let made = Arc::new(grader.prepare(&rubric.load(vars, process)?)?);
        let mut ready = self.0.lock();
        if ready.len() >= MAX_PREPARED {
            ready.clear();
        }
        ready.insert(key, Arc::clone(&made));
        Ok(made)
    }
}
