//! Records of one case of a stored run, with its question.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use assize_diagnostic::did_you_mean_name;
use assize_run::score_record;
use assize_store::{CaseRecord, QuestionRow, ResultRow, RunFolder, StoreError};

use crate::error::EngineError;
use crate::labels::LabelledRun;

/// The most ids that are kept for a hint if the case is not found.
const MAX_HINT_IDS: usize = 10_000;

/// Selects results within a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaseSelector<'a> {
    /// Only cases of this suite. A name that several files share selects all of them, with or without the path
    /// that distinguishes them.
    pub suite: Option<&'a str>,
    /// Only answers of this target.
    pub target: Option<&'a str>,
}

impl CaseSelector<'_> {
    /// Returns true if a result belongs to the selected suite and target.
    pub fn takes(&self, row: &ResultRow) -> bool {
        self.suite.is_none_or(|suite| is_called(&row.suite, suite))
            && self.target.is_none_or(|target| Some(target) == row.target.as_deref())
    }
}

/// Whether a suite has this name. Suites with the same name are distinguished by paths in brackets.
fn is_called(suite: &str, name: &str) -> bool {
    let rest = suite.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(" (") && rest.ends_with(')')))
}

/// Explains which suite or target of a selection the run does not have, and which it has; `None` if it has
/// both.
///
/// # Errors
/// If the run can't be read.
pub fn unknown_selection(
    folder: &RunFolder,
    selector: CaseSelector<'_>,
) -> Result<Option<String>, EngineError> {
    let (mut suites, mut targets) = (BTreeSet::new(), BTreeSet::new());
    for record in folder.cases()? {
        let row = record?.result;
        suites.insert(row.suite.to_string());
        targets.extend(row.target.as_deref().map(str::to_owned));
    }

    let suite = selector.suite.filter(|wanted| !suites.iter().any(|suite| is_called(suite, wanted)));
    let target = selector.target.filter(|wanted| !targets.contains(*wanted));
    let (kind, wanted, all) = match (suite, target) {
        (Some(suite), _) => ("suite", suite, suites),
        (None, Some(target)) => ("target", target, targets),
        (None, None) => return Ok(None),
    };
    let all: Vec<String> = all.into_iter().collect();
    let known = match all.as_slice() {
        [] => format!("it has no {kind}"),
        [only] => format!("its only {kind} is `{only}`"),
        _ => format!("its {kind}s are {}", preview(&all)),
    };
    Ok(Some(format!("no {kind} `{wanted}` in `{}`; {known}", folder.path().display())))
}

/// Says that no case of a run has a criterion, and which it has.
///
/// # Errors
/// If the run can't be read.
pub fn unknown_criterion(folder: &RunFolder, criterion: &str) -> Result<String, EngineError> {
    let mut ids = BTreeSet::new();
    for record in folder.cases()? {
        let row = record?.result;
        let all = row.graders.iter().flat_map(|grader| grader.criteria.iter().map(move |one| (grader, one)));
        // Checks are numbered, and named by their graders.
        ids.extend(all.map(|(grader, one)| {
            if one.id.starts_with("check-") { grader.name.clone() } else { one.id.to_string() }
        }));
    }

    let ids: Vec<String> = ids.into_iter().collect();
    let hint = match did_you_mean_name(criterion, ids.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if ids.is_empty() => "its cases have no criteria".to_owned(),
        None => format!("its criteria are {}", preview(&ids)),
    };
    Ok(format!("no case of run `{}` has a criterion `{criterion}`; {hint}", run_id(folder.path())))
}

/// The record of a case, with its question.
#[derive(Debug, Clone)]
pub struct FoundCase {
    /// The record, with the labels of people where they count.
    pub record: CaseRecord,
    /// The question; `None` if the run did not store it.
    pub question: Option<QuestionRow>,
}

/// Finds the records of a case, or of all cases of a test. A case has several if it was run against several targets, or
/// more than once.
///
/// # Errors
/// If the run can't be read, or holds no such case.
pub fn find_cases(
    folder: &RunFolder,
    case: &str,
    selector: CaseSelector<'_>,
    labelled: Option<&LabelledRun>,
) -> Result<Vec<FoundCase>, EngineError> {
    let labels = labelled.and_then(|labelled| Some((labelled.labels.as_ref()?, &labelled.run.info)));

    let mut found: Vec<CaseRecord> = Vec::new();
    let mut ids: Vec<(Option<u64>, String)> = Vec::new();
    let mut elsewhere: Option<ResultRow> = None;
    for record in folder.cases()? {
        let mut record = record?;
        let is_named = [&record.result.case_id, record.result.test_id()].into_iter().any(|id| **id == *case);
        if is_named && selector.takes(&record.result) {
            if let Some((labels, info)) = labels {
                labels.apply(&mut record, info);
                record.result = score_record(&record.result, &record.decisions);
            }

            found.push(record);
        } else if is_named {
            elsewhere = Some(record.result);
        } else if selector.takes(&record.result) && ids.len() < MAX_HINT_IDS {
            ids.push((record.result.place, record.result.case_id.to_string()));
        }
    }

    if found.is_empty() {
        if let Some(message) = unknown_selection(folder, selector)? {
            return Err(EngineError::usage(message));
        }
        if let Some(row) = elsewhere {
            let of_target =
                row.target.map(|target| format!(", answered by target `{target}`")).unwrap_or_default();
            return Err(EngineError::usage(format!(
                "no case `{case}` is selected in run `{}`; there is one of suite `{}`{of_target}",
                run_id(folder.path()),
                row.suite
            )));
        }

        // Rows are stored in the order in which cases ended.
        ids.sort_by_key(|(place, _)| place.unwrap_or(u64::MAX));
        let ids: Vec<String> = ids.into_iter().map(|(_, id)| id).collect();
        return Err(EngineError::usage(not_found(case, &ids, folder.path())));
    }

    let questions = questions(folder, &found)?;
    let with_question = |record: CaseRecord| {
        let question = record.result.case_hash.as_deref().and_then(|hash| questions.get(hash)).cloned();
        FoundCase { record, question }
    };
    Ok(found.into_iter().map(with_question).collect())
}

/// Reads the questions of these records, by hash.
fn questions(folder: &RunFolder, records: &[CaseRecord]) -> Result<HashMap<String, QuestionRow>, StoreError> {
    let wanted: HashSet<&str> =
        records.iter().filter_map(|record| record.result.case_hash.as_deref()).collect();
    let mut found = HashMap::new();
    for row in folder.questions()? {
        let row = row?;
        if wanted.contains(row.case_hash.as_str()) {
            found.insert(row.case_hash.clone(), row);
        }
    }

    Ok(found)
}

fn not_found(case: &str, ids: &[String], folder: &Path) -> String {
    let hint = match did_you_mean_name(case, ids.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if ids.is_empty() => "the run has no finished case".to_owned(),
        None => format!("its cases are {}", preview(ids)),
    };

    format!("no case `{case}` in run `{}`; {hint}", run_id(folder))
}

/// The id of a run, which is the name of its folder.
fn run_id(folder: &Path) -> String {
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

fn preview(ids: &[String]) -> String {
    let mut first: Vec<String> = ids.iter().take(5).map(|id| format!("`{id}`")).collect();
    if ids.len() > first.len() {
        first.push("...".to_owned());
    }
    first.join(", ")
}
