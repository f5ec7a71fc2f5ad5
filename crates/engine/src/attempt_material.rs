//! Material of an attempt: an answer and criteria, and their sources.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap, did_you_mean_name};
use assize_document::codes;
use assize_evalfile::{GivenAnswer, LoadOptions, LoadedRubric, load_rubric, read_rubric, suite_from_answer};
use assize_load::load_suite;
use assize_model::{Case, GivenOutput, GraderKind, Suite};
use assize_rubric::{CaseMessage, MessageRole};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;

/// Path that diagnostics show for criteria from the command line.
const COMMAND_LINE: &str = "command-line.json";
/// Name of the only case.
const CASE_ID: &str = "try";

/// Request to judge one answer.
#[derive(Debug, Clone, Default)]
pub struct AttemptRequest {
    /// Criteria, one sentence each. They are used if there is no `file`.
    pub criteria: Vec<String>,
    /// Score ranges of the only criterion, such as `5-10: friendly`.
    pub ranges: Vec<String>,
    /// A rubric file; with `case`, an eval file.
    pub file: Option<PathBuf>,
    /// Case of the eval file.
    pub case: Option<String>,
    /// The answer.
    pub answer: Option<String>,
    /// File with the answer. `-` means that the user enters it at the start.
    pub answer_file: Option<PathBuf>,
    /// Question, reference and expected outcome. They override the case's own.
    pub about: GivenAnswer,
}

/// Where the criteria are.
enum CriteriaSource {
    /// In the request, as a rubric in JSON.
    Text(String),
    /// In a rubric file.
    Rubric(PathBuf),
    /// The rubrics of a case of an eval file.
    Case { path: PathBuf, id: String },
}

/// Where the answer is.
enum AnswerSource {
    /// The text itself.
    Text(String),
    /// In a file, which is read again at every load.
    File(PathBuf),
    /// The `output` of the case in the eval file.
    Case,
}

/// Subject of attempts: an answer and the criteria it is judged by.
pub struct AttemptSubject {
    criteria: CriteriaSource,
    answer: AnswerSource,
    about: GivenAnswer,
}

/// Suite with its only case, ready to be judged.
#[derive(Debug, Clone)]
pub struct AttemptCase {
    /// The suite.
    pub suite: Suite,
    /// The case.
    pub case: Arc<Case>,
}

/// Result of reading the files.
#[derive(Debug)]
pub struct LoadedAttempt {
    /// The case, or why there is none.
    pub attempt: Result<AttemptCase, EngineError>,
    /// Problems and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Sources that the diagnostics point into.
    pub sources: SourceMap,
    /// Files that were read or searched for.
    pub files: Vec<PathBuf>,
}

impl LoadedAttempt {
    /// Reports errors to the observer, and warnings unless `quiet`.
    pub fn report(&self, quiet: bool, engine: &Engine) {
        if self.attempt.is_err() || !quiet {
            engine.report_diagnostics(&self.diagnostics, &self.sources);
        }
    }
}

impl AttemptSubject {
    /// Creates the subject of a request. `given` returns the answer that the user enters.
    ///
    /// # Errors
    /// If the request contradicts itself, or there is no answer.
    pub fn new(
        request: AttemptRequest,
        given: impl FnOnce() -> Result<String, EngineError>,
    ) -> Result<Self, EngineError> {
        let criteria = match (request.file, request.case) {
            (Some(path), Some(id)) => CriteriaSource::Case { path, id },
            (Some(path), None) => CriteriaSource::Rubric(path),
            (None, _) => CriteriaSource::Text(rubric_text(&request.criteria, &request.ranges)?),
        };

        let answer = match (request.answer, request.answer_file, &criteria) {
            (Some(text), _, _) => AnswerSource::Text(text),
            (None, Some(path), _) if path.as_os_str() != "-" => AnswerSource::File(path),
            (None, None, CriteriaSource::Case { .. }) => AnswerSource::Case,
            _ => AnswerSource::Text(given()?),
        };

        Ok(Self { criteria, answer, about: request.about })
    }

    /// The folder in which the search for a targets file starts.
    pub fn folder(&self) -> &Path {
        match &self.criteria {
            CriteriaSource::Text(_) => Path::new(""),
            CriteriaSource::Rubric(path) | CriteriaSource::Case { path, .. } => {
                path.parent().unwrap_or(Path::new(""))
            }
        }
    }

    /// Reads the files in their current state.
    pub fn load(&self, options: &LoadOptions, engine: &Engine) -> LoadedAttempt {
        let mut files = Vec::new();
        let answer = match &self.answer {
            AnswerSource::Text(text) => Ok(Some(text.clone())),
            AnswerSource::Case => Ok(None),
            AnswerSource::File(path) => {
                files.push(path.clone());
                assize_files::read_text(&engine.process().resolve(path)).map(Some).map_err(|error| {
                    let path = path.display();
                    EngineError::unreadable(format!("can't read the answer, `{path}`: {error}"))
                })
            }
        };

        let mut loaded = match &self.criteria {
            CriteriaSource::Text(text) => self.of_rubric(read_rubric(Path::new(COMMAND_LINE), text), answer),
            CriteriaSource::Rubric(path) => {
                let path = engine.process().resolve(path);
                files.push(path.clone());
                self.of_rubric(load_rubric(&path, options), answer)
            }
            CriteriaSource::Case { path, id } => {
                let path = engine.process().resolve(path);
                files.push(path.clone());
                self.of_case(&path, id, answer, options)
            }
        };
        for file in files {
            if !loaded.files.contains(&file) {
                loaded.files.push(file);
            }
        }

        loaded
    }

    fn of_rubric(&self, rubric: LoadedRubric, answer: Result<Option<String>, EngineError>) -> LoadedAttempt {
        let attempt = answer.and_then(|answer| {
            let about = GivenAnswer { text: answer.unwrap_or_default(), ..self.about.clone() };
            let (suite, case) = suite_from_answer(&rubric, CASE_ID, &about).ok_or_else(|| {
                let is_no_rubric = rubric.diagnostics.iter().any(|one| one.code == codes::NOT_A_RUBRIC);
                EngineError::invalid_file(if is_no_rubric {
                    "nothing was judged; to try the rubric of a case in an eval file, add `--case ID`"
                } else {
                    "the criteria have errors; nothing was judged"
                })
            })?;
            Ok(AttemptCase { suite, case: Arc::new(case) })
        });
        LoadedAttempt { attempt, files: Vec::new(), diagnostics: rubric.diagnostics, sources: rubric.sources }
    }

    fn of_case(
        &self,
        path: &Path,
        id: &str,
        answer: Result<Option<String>, EngineError>,
        options: &LoadOptions,
    ) -> LoadedAttempt {
        let loaded = load_suite(path, options);
        let files = loaded.sources.files().map(|(_, file)| file.path().to_path_buf()).collect();
        let broken = loaded.has_errors();
        let attempt = answer.and_then(|answer| {
            let Some(suite) = loaded.suite.filter(|_| !broken) else {
                return Err(EngineError::invalid_file("the eval file has errors; nothing was judged"));
            };
            let mut ids = Vec::new();
            let mut wanted = None;
            for case in &loaded.cases {
                let case = case?;
                ids.push(case.id.to_string());

                if case.id.as_str() == id {
                    wanted = Some((*case).clone());
                    break;
                }
            }

            let case = wanted.ok_or_else(|| EngineError::usage(no_case(id, &ids, path)))?;
            Ok(AttemptCase { suite, case: Arc::new(self.with_request(case, answer)?) })
        });

        LoadedAttempt { attempt, files, diagnostics: loaded.diagnostics, sources: loaded.sources }
    }

    /// The case with only its rubrics, and with the texts of the request in place of its own.
    fn with_request(&self, mut case: Case, answer: Option<String>) -> Result<Case, EngineError> {
        case.graders.retain(|grader| matches!(grader.kind, GraderKind::Rubric(_)));

        if case.graders.is_empty() {
            return Err(EngineError::usage(format!(
                "case `{}` has no rubric to try: none of its graders has criteria for a judge; `assize eval` runs them",
                case.id
            )));
        }
        if let Some(text) = answer {
            case.output = Some(GivenOutput::Text(text));
        }

        if case.output.is_none() {
            return Err(EngineError::usage(format!(
                "case `{}` has no `output`; give an answer with `--answer` or `--answer-file`",
                case.id
            )));
        }

        let GivenAnswer { question, reference, expected_outcome, .. } = &self.about;
        if let Some(text) = question {
            case.input = vec![CaseMessage::text(MessageRole::User, text.clone())];
        }
        if let Some(text) = reference {
            case.expected_output = vec![CaseMessage::text(MessageRole::Assistant, text.clone())];
        }

        case.expected_outcome = expected_outcome.clone().or(case.expected_outcome);
        // Only this answer is judged, so dependencies of the case don't matter.
        case.depends_on.clear();

        Ok(case)
    }
}

fn no_case(id: &str, ids: &[String], path: &Path) -> String {
    let shown = path.display();
    if let Some(near) = did_you_mean_name(id, ids.iter().map(String::as_str)) {
        return format!("`{shown}` has no case `{id}`; did you mean `{near}`?");
    }

    let some: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
    format!("`{shown}` has no case `{id}`; the first are {}", some.join(", "))
}

/// Builds a rubric in JSON from command-line options. Yes-or-no criteria are all required; with ranges the
/// pass threshold decides.
fn rubric_text(criteria: &[String], ranges: &[String]) -> Result<String, EngineError> {
    if !ranges.is_empty() && criteria.len() != 1 {
        return Err(EngineError::usage("`--range` belongs to one criterion; give one"));
    }

    let bands = ranges.iter().map(|range| band(range)).collect::<Result<Vec<Value>, EngineError>>()?;
    let items: Vec<Value> = criteria
        .iter()
        .map(|text| {
            // Without an id, the criterion is named like one in any other rubric.
            let mut item = Map::new();
            item.insert("outcome".to_owned(), json!(text));

            if bands.is_empty() {
                item.insert("required".to_owned(), json!(true));
            } else {
                item.insert("score_ranges".to_owned(), json!(bands));
            }

            Value::Object(item)
        })
        .collect();
    serde_json::to_string_pretty(&json!({ "name": "rubrics", "criteria": items }))
        .map_err(|error| EngineError::usage(error.to_string()))
}

/// Parses `5-10: friendly` or `10: perfect`.
fn band(written: &str) -> Result<Value, EngineError> {
    let expected = || {
        EngineError::usage(format!(
            "`--range {written}`: expected LOW-HIGH: TEXT with whole numbers, such as `5-10: friendly`"
        ))
    };
    let (numbers, text) = written.split_once(':').ok_or_else(expected)?;
    let (low, high) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let number = |text: &str| text.trim().parse::<u8>().map_err(|_| expected());

    Ok(json!({ "score_range": [number(low)?, number(high)?], "outcome": text.trim() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_typed() {
        assert_eq!(
            band("0-4: rude: or curt").unwrap(),
            json!({"score_range": [0, 4], "outcome": "rude: or curt"})
        );
        assert_eq!(band("10: all").unwrap()["score_range"], json!([10, 10]));
        for wrong in ["", "0-4", "a-b: c", "-1-4: c", "0-999: c"] {
            assert!(band(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn typed_criteria_are_data_and_never_put_anything_in() {
        let text = rubric_text(&["says ${{ HOME }} \"quoted\"".to_owned()], &[]).unwrap();
        let rubric = read_rubric(Path::new(COMMAND_LINE), &text);
        assert!(!rubric.has_errors(), "{:?}", rubric.diagnostics);
        let criteria = rubric.rubric.expect("sound");
        assert_eq!(criteria.rubric.criteria()[0].text, "says ${{ HOME }} \"quoted\"");
        assert!(rubric_text(&["a".to_owned(), "b".to_owned()], &["0-10: x".to_owned()]).is_err());
    }
}
