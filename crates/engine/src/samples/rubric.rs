//! Rubrics for grading samples.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_document::codes;
use assize_evalfile::{LoadedRubric, load_rubric, load_rubric_with, read_rubric, read_rubric_with};
use assize_model::{Grader, GraderKind};
use assize_run::WorkItem;
use assize_store::CaseRecord;
use serde_json::Value;

use super::card::{SampleCard, ScoredSample};
use crate::engine::Engine;
use crate::error::EngineError;

/// Path that diagnostics show for a rubric that is not a file.
const INLINE_RUBRIC: &str = "rubric.yaml";

/// Source of a rubric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RubricSource {
    /// A rubric file.
    File(PathBuf),
    /// The text of a rubric in YAML or JSON, as in a file. Environment variables are not substituted.
    Text(String),
}

impl Engine {
    /// Reads a rubric. Its problems are reported as [`EngineEvent::Diagnostics`](crate::EngineEvent::Diagnostics).
    ///
    /// # Errors
    /// When it has errors.
    pub fn read_rubric(&self, source: &RubricSource) -> Result<LoadedRubric, EngineError> {
        let rubric = match source {
            RubricSource::File(path) => load_rubric(&self.process().resolve(path), &self.load_options(&[])),
            RubricSource::Text(text) => read_rubric(Path::new(INLINE_RUBRIC), text),
        };
        self.without_errors(rubric)
    }

    /// Like [`Engine::read_rubric`], with the values of `vars` replacing `{{ name }}` in its criteria. Values
    /// are not expanded again.
    ///
    /// # Errors
    /// If it has errors, or a name has no value: a judge would be asked about the name itself.
    pub fn read_rubric_with(
        &self,
        source: &RubricSource,
        vars: &BTreeMap<String, Value>,
    ) -> Result<LoadedRubric, EngineError> {
        let rubric = match source {
            RubricSource::File(path) => {
                load_rubric_with(&self.process().resolve(path), &self.load_options(&[]), vars)
            }
            RubricSource::Text(text) => read_rubric_with(Path::new(INLINE_RUBRIC), text, vars),
        };
        let rubric = self.without_errors(rubric)?;

        let open = rubric.diagnostics.iter().find(|found| found.code == codes::UNKNOWN_VARIABLE);
        match open {
            None => Ok(rubric),
            Some(open) => Err(EngineError::invalid_file(format!("{}; nothing was graded", open.title))),
        }
    }

    /// Reports the problems of a rubric, and refuses one with errors.
    fn without_errors(&self, rubric: LoadedRubric) -> Result<LoadedRubric, EngineError> {
        self.report_diagnostics(&rubric.diagnostics, &rubric.sources);
        if rubric.has_errors() {
            return Err(EngineError::invalid_file("the rubric has errors; nothing was graded"));
        }

        Ok(rubric)
    }
}

/// A rubric or scorecard with its judges, which can be applied to any number of samples.
#[derive(Clone)]
pub struct PreparedRubric {
    /// The item of an empty sample.
    pub(super) template: WorkItem,
    /// Hash of everything that determines a result, apart from the sample: judges with their models and
    /// prompts, criteria, weights, thresholds and judging mode. If a judge changes later, so does the hash.
    pub config_hash: String,
    /// Names of the judges.
    pub judges: Vec<String>,
    /// Warnings about the rubric with these judges.
    pub warnings: Vec<String>,
    /// The scorecard that it was made from, if it was.
    pub(super) card: Option<Arc<SampleCard>>,
}

impl PreparedRubric {
    /// Whether it was made from a scorecard.
    pub fn is_scorecard(&self) -> bool {
        self.card.is_some()
    }

    /// Scores of all parts of a scorecard for a sample with this record; `None` for a rubric.
    pub fn score_parts(&self, record: &CaseRecord) -> Option<ScoredSample> {
        self.card.as_ref().map(|card| ScoredSample::new(Arc::clone(card), record))
    }

    /// The number of criteria, or of benchmarks.
    pub fn criteria(&self) -> usize {
        self.template.case.graders.iter().map(|grader| criteria_of(grader)).sum()
    }
}

fn criteria_of(grader: &Grader) -> usize {
    match &grader.kind {
        GraderKind::Rubric(rubric) => rubric.rubric.criteria().len(),
        _ => 1,
    }
}
