//! Input of a report: a stored run, with everything else that is known about it.

use std::sync::Arc;

use assize_analysis::calibrate::CalibrationReport;
use assize_analysis::compare::ComparisonSet;
use assize_analysis::{ScorecardRun, ScorecardTree};
use assize_audit::StoredAudit;
use assize_rubric::ScorecardScores;
use assize_store::{
    AnswerPart, CaseRecord, CaseRecords, QuestionIndex, QuestionRow, ResultRow, RunFolder, RunInfo,
    StoreError,
};

/// A stored run, as a report reads it.
#[derive(Clone, Copy)]
pub struct RunReport<'a> {
    /// Name of the run on the command line.
    pub name: &'a str,
    /// Folder with its rows.
    pub folder: &'a RunFolder,
    /// Its description. The summary covers only the cases included in the report.
    pub info: &'a RunInfo,
    /// Answers that the report is limited to.
    pub part: &'a AnswerPart,
    /// Changes each record before it is shown, such as to apply people's labels.
    pub prepare: &'a dyn Fn(&mut CaseRecord),
    /// Returns the position of a criterion in the run's files, if these are unchanged.
    pub position: &'a dyn Fn(&CriterionName) -> Option<CriterionPosition>,
    /// Scores of its scorecard.
    pub scorecard: Option<ScorecardMaterial<'a>>,
    /// Comparison with a baseline.
    pub comparison: Option<ComparisonMaterial<'a>>,
    /// Calibration of its judges against people's labels.
    pub calibration: Option<&'a CalibrationReport>,
    /// Its metrics, if it is an audit.
    pub audit: Option<&'a StoredAudit>,
}

/// A comparison with a baseline.
#[derive(Clone, Copy)]
pub struct ComparisonMaterial<'a> {
    /// The comparison.
    pub set: &'a ComparisonSet,
    /// Name of the method that adjusts the p values, if they are adjusted.
    pub adjusted_by: Option<&'a str>,
}

/// Position of a criterion in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionPosition {
    /// Path of the file, as the user would write it.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
}

/// The scores of a run of a scorecard.
#[derive(Clone, Copy)]
pub struct ScorecardMaterial<'a> {
    /// The run with the results of each part.
    pub run: &'a ScorecardRun,
    /// Its trees with their scores.
    pub scores: &'a [(&'a ScorecardTree, ScorecardScores<'a>)],
}

impl RunReport<'_> {
    /// Returns true if the report includes this record.
    pub(crate) fn includes(&self, record: &CaseRecord) -> bool {
        self.part.takes(&record.result)
    }

    pub(crate) fn records(&self) -> Result<CaseRecords, StoreError> {
        self.folder.cases()
    }

    pub(crate) fn questions(&self) -> Result<QuestionIndex, StoreError> {
        self.folder.question_index()
    }

    /// Names of the suites, separated by commas.
    pub(crate) fn suite_names(&self) -> String {
        let names: Vec<&str> =
            self.info.suites_with_cases().into_iter().map(|suite| suite.name.as_str()).collect();
        names.join(", ")
    }

    /// Names of the suites, the target that the report is limited to, and the label of the run.
    pub(crate) fn title(&self) -> String {
        let names = [&self.part.target, &self.part.prompt].into_iter().flatten();
        let part: String = names.flat_map(|name| [" → ", name]).collect();
        let label = self.info.label.as_ref().map(|label| format!(" · {label}")).unwrap_or_default();
        self.suite_names() + &part + &label
    }

    /// Path of the file of a suite; empty if it is not known.
    pub(crate) fn suite_path(&self, suite: &str) -> &str {
        self.info.suites.iter().find(|one| one.name == suite).map_or("", |one| one.path.as_str())
    }
}

/// Name of a criterion. The text is part of it, because two cases of a suite may use one id for different
/// texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CriterionName {
    /// Name of the suite.
    pub suite: Arc<str>,
    /// Name of the grader.
    pub grader: String,
    /// Id of the criterion; empty for a grader as a whole, or for a case that was not graded.
    pub criterion: Arc<str>,
    /// Its text; empty where none is stored.
    pub text: String,
}

/// Returns the stored question of a case, if there is one.
pub(crate) fn stored_question(
    questions: &mut QuestionIndex,
    row: &ResultRow,
) -> Result<Option<QuestionRow>, StoreError> {
    row.case_hash.as_deref().map_or(Ok(None), |hash| questions.read(hash))
}
