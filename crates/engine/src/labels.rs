//! People's labels for a stored scorecard run.

use std::path::{Path, PathBuf};

use assize_analysis::{LabelSet, ScorecardRun};
use assize_diagnostic::Severity;
use assize_model::Scorecard;
use assize_rubric::{BenchmarkState, DecidedBy, PeopleRule, UnboundLabels};
use assize_scorecard::load_scorecard_with_labels;
use assize_store::{RunFolder, RunInfo};

use crate::error::{EngineError, EngineErrorKind};
use crate::process::ProcessContext;

/// Setting of a run: the folder of labels in addition to the scorecard's labels.
const FOLDER_KEY: &str = "labels";
/// Setting of a run: labels count even if they do not say which answer they are about.
const UNBOUND_KEY: &str = "unbound_labels";
/// Setting of a run: who decides where labels contradict a judge.
const PEOPLE_KEY: &str = "people";

/// Which labels count.
#[derive(Debug, Clone, Default)]
pub struct LabelOptions {
    /// Folder of labels in addition to the scorecard's labels; by default the run's folder.
    pub folder: Option<PathBuf>,
    /// What to do with labels that do not say which answer they are about.
    pub unbound: UnboundLabels,
    /// Who decides where labels contradict a judge.
    pub people: PeopleRule,
}

impl LabelOptions {
    /// These options, completed by the options that the run stored.
    #[must_use]
    pub fn or_stored(&self, info: &RunInfo) -> Self {
        let stored = |key: &str| info.settings.other.get(key);
        let is_accepted = self.unbound == UnboundLabels::Accept || stored(UNBOUND_KEY).is_some();
        Self {
            folder: self.folder.clone().or_else(|| stored(FOLDER_KEY).map(PathBuf::from)),
            unbound: if is_accepted { UnboundLabels::Accept } else { UnboundLabels::Report },
            people: if stored(PEOPLE_KEY).is_some() { PeopleRule::Override } else { self.people },
        }
    }

    /// Settings that a run stores, so that the same labels count whenever it is read.
    pub(crate) fn settings(&self, working_folder: &Path) -> impl Iterator<Item = (String, String)> {
        // The run may be read from another working folder.
        let absolute = |folder: &PathBuf| working_folder.join(folder).display().to_string();
        let folder = self.folder.as_ref().map(|folder| (FOLDER_KEY.to_owned(), absolute(folder)));
        let unbound =
            (self.unbound == UnboundLabels::Accept).then(|| (UNBOUND_KEY.to_owned(), "accepted".to_owned()));
        let people =
            (self.people == PeopleRule::Override).then(|| (PEOPLE_KEY.to_owned(), "override".to_owned()));
        folder.into_iter().chain(unbound).chain(people)
    }
}

/// The folders with labels about a run: its scorecard's, or the `labels` folders beside its eval files.
pub fn label_folders(info: &RunInfo, process: &ProcessContext) -> Vec<PathBuf> {
    let paths = info.suites.iter().map(|suite| process.resolve(&suite.path));
    if info.scorecard.is_some() {
        let stored = LabelOptions::default().or_stored(info).folder.map(|folder| process.resolve(folder));
        let mut beside = paths.filter(|path| path.is_dir()).map(|path| path.join("labels"));
        return stored.or_else(|| beside.next()).into_iter().collect();
    }

    let mut folders: Vec<PathBuf> = paths.map(|path| path.with_file_name("labels")).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The labels of a scorecard that was read.
pub fn label_set(scorecard: &Scorecard) -> LabelSet {
    LabelSet::new(scorecard.stored_labels(), scorecard.unbound_labels).with_people(scorecard.people)
}

/// A scorecard run with its current labels.
#[derive(Debug)]
pub struct LabelledRun {
    /// Description of the run, without its tree.
    pub info: RunInfo,
    /// Decisions of the run, updated by later labels.
    pub run: ScorecardRun,
    /// The labels that were counted; `None` if the scorecard can't be read any more.
    pub labels: Option<LabelSet>,
    /// Why labels are not counted.
    pub warning: Option<String>,
}

/// Reads a scorecard run and applies people's labels to the decisions that wait for them.
///
/// # Errors
/// If the run can't be read, or is not a scorecard run, or if the scorecard exists and has errors.
pub fn labelled_run(
    folder: &RunFolder,
    options: &LabelOptions,
    process: &ProcessContext,
) -> Result<LabelledRun, EngineError> {
    let mut info = folder.info()?;
    let (labels, idle, problem) = match current_scorecard(&info, options, process) {
        Ok(scorecard) => {
            let idle = [
                (scorecard.labels_elsewhere().len(), "the benchmark does not apply to the case"),
                (scorecard.labels_of_no_case(), "the scorecard has no such case"),
            ];
            (Some(label_set(&scorecard)), idle, None)
        }
        Err(problem) => (None, [(0, ""); 2], Some(problem)),
    };

    let tree = info.scorecard.take();
    let run = ScorecardRun::with_labels(folder, tree, labels.as_ref())
        .map_err(|error| EngineError::usage(error.to_string()))?;

    // The conclusion names the options that labels were counted with, including this command's options.
    let options = options.or_stored(&info);
    info.settings.other.extend(options.settings(&process.working_folder));

    // If no decision waits for people, an unreadable scorecard does not matter.
    let problem = problem.filter(|_| {
        let cases = run.parts.iter().flat_map(|part| part.cases.values());
        cases.into_iter().any(|case| case.finding.decided_by == Some(DecidedBy::Person))
            || !run.review_rows().is_empty()
    });
    let warning = match problem {
        // A run may be read where its scorecard is missing. But labels that exist and can't be read may differ
        // from those that the run has counted.
        Some(problem) if problem.kind == EngineErrorKind::InvalidFile => return Err(problem),
        problem => problem.map(|problem| problem.message),
    };

    let idle = idle.iter().filter(|(labels, _)| *labels > 0).map(|(labels, why)| match labels {
        1 => format!("1 label has no effect: {why}"),
        labels => format!("{labels} labels have no effect: {why}"),
    });
    let warning = warning.or_else(|| idle.reduce(|all, one| format!("{all}; {one}")));

    Ok(LabelledRun { info, run, labels, warning })
}

/// Writes the list of decisions that wait for people into a scorecard run, after labels were added. Other runs
/// have no such file. Returns how many gates are disputed.
///
/// # Errors
/// As in [`labelled_run`], and if the file can't be written.
pub fn write_review_list(
    folder: &RunFolder,
    options: &LabelOptions,
    process: &ProcessContext,
) -> Result<usize, EngineError> {
    if folder.info()?.scorecard.is_none() {
        return Ok(0);
    }

    let LabelledRun { run, .. } = labelled_run(folder, options, process)?;
    let rows = run.review_rows();
    folder.write_review(&rows)?;
    Ok(rows.iter().filter(|row| row.why == BenchmarkState::Disputed).count())
}

/// A run's scorecard in its present form, with its labels, or why it can't be read.
///
/// # Errors
/// If it is not found, or has errors.
pub fn current_scorecard(
    info: &RunInfo,
    options: &LabelOptions,
    process: &ProcessContext,
) -> Result<Scorecard, EngineError> {
    let options = options.or_stored(info);
    let stored = info.suites.first().map_or_else(|| Path::new(""), |suite| Path::new(&suite.path));
    let path = process.resolve(stored);
    if !path.exists() {
        return Err(EngineError::unreadable(format!(
            "the scorecard `{}` of the run was not found, so labels added since the run are not counted; run this command in the folder the run was started in",
            stored.display()
        )));
    }

    let folder = options.folder.as_ref().map(|folder| process.resolve(folder));
    let loaded = load_scorecard_with_labels(&path, folder.as_deref(), &process.load_options(&[]));
    let first = loaded.diagnostics.iter().find(|found| found.severity == Severity::Error);
    let mut scorecard = loaded.scorecard.ok_or_else(|| {
        // An error may be in labels of another folder, which `validate` does not read.
        let place = first.map(|found| loaded.sources.file(found.primary.span.source).path());
        EngineError::invalid_file(format!(
            "the scorecard `{}` has errors, so its labels can't be counted; the first is in `{}`: {}",
            stored.display(),
            place.unwrap_or(path.as_path()).display(),
            first.map_or("it can't be read", |found| found.title.as_str())
        ))
    })?;

    scorecard.unbound_labels = options.unbound;
    scorecard.people = options.people;
    Ok(scorecard)
}
