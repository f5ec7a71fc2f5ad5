//! Sources of the criteria, the answer and the rest of a case for `assize try`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SourceMap, did_you_mean};
use assize_evalfile::{
    Case, GivenAnswer, GivenOutput, GraderKind, LoadOptions, LoadedRubric, Message, Role, Suite, load_rubric,
    load_suite, read_rubric, suite_of_answer,
};
use serde_json::{Map, Value, json};

use crate::args::TryArgs;
use crate::context::Context;
use crate::output;

/// Path that diagnostics show for criteria from the command line.
const COMMAND_LINE: &str = "command-line.json";
/// Id of the only case.
const CASE: &str = "try";

/// Source of the criteria.
enum Criteria {
    /// On the command line, as a rubric in JSON.
    Text(String),
    /// In a rubric file.
    Rubric(PathBuf),
    /// The rubrics of a case of an eval file.
    Case { path: PathBuf, id: String },
}

/// Source of the answer.
enum AnswerAt {
    /// The text itself.
    Text(String),
    /// A file, read again at every load.
    File(PathBuf),
    /// The `output` of the case in the eval file.
    Case,
}

/// The sources given on the command line.
pub(super) struct Wish {
    criteria: Criteria,
    answer: AnswerAt,
    about: GivenAnswer,
}

/// A suite and its case, ready to be judged.
pub(super) struct Scene {
    pub(super) suite: Suite,
    pub(super) case: Arc<Case>,
}

/// Everything that was read.
pub(super) struct Loaded {
    /// The case to judge, or the reason for which there is none.
    pub(super) scene: Result<Scene, String>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) sources: SourceMap,
    /// Files that were read or looked up, for watching.
    pub(super) files: Vec<PathBuf>,
}

impl Loaded {
    /// Prints the diagnostics; warnings only unless `quiet`.
    pub(super) fn say(&self, quiet: bool, context: &Context) {
        if self.scene.is_err() || !quiet {
            output::say_diagnostics(&self.diagnostics, &self.sources, context);
        }
    }
}

impl Wish {
    /// Reads the sources from the command line; reads standard input if the answer comes from there.
    pub(super) fn read(args: &TryArgs) -> Result<Self, String> {
        let file = args.watch.as_ref().or(args.rubric.as_ref());
        let criteria = match (file, &args.case) {
            (Some(path), Some(id)) => Criteria::Case { path: path.clone(), id: id.clone() },
            (Some(path), None) => Criteria::Rubric(path.clone()),
            (None, _) => Criteria::Text(typed(&args.criteria, &args.range)?),
        };
        let answer = match (&args.answer, &args.answer_file, &criteria) {
            (Some(text), _, _) => AnswerAt::Text(text.clone()),
            (None, Some(path), _) if path.as_os_str() != "-" => AnswerAt::File(path.clone()),
            (None, None, Criteria::Case { .. }) => AnswerAt::Case,
            _ => AnswerAt::Text(standard_input()?),
        };
        let about = GivenAnswer {
            text: String::new(),
            question: args.question.clone(),
            reference: args.reference.clone(),
            expected_outcome: args.expected_outcome.clone(),
        };
        Ok(Self { criteria, answer, about })
    }

    /// Folder from which targets files are searched.
    pub(super) fn folder(&self) -> &Path {
        match &self.criteria {
            Criteria::Text(_) => Path::new(""),
            Criteria::Rubric(path) | Criteria::Case { path, .. } => path.parent().unwrap_or(Path::new("")),
        }
    }

    /// Reads the files in their current state.
    pub(super) fn load(&self, options: &LoadOptions, context: &Context) -> Loaded {
        let mut files = Vec::new();
        let answer = match &self.answer {
            AnswerAt::Text(text) => Ok(Some(text.clone())),
            AnswerAt::Case => Ok(None),
            AnswerAt::File(path) => {
                files.push(path.clone());
                std::fs::read_to_string(context.working_folder.join(path))
                    .map(Some)
                    .map_err(|error| format!("can't read the answer, `{}`: {error}", path.display()))
            }
        };
        let mut loaded = match &self.criteria {
            Criteria::Text(text) => self.of_rubric(read_rubric(Path::new(COMMAND_LINE), text), answer),
            Criteria::Rubric(path) => {
                files.push(path.clone());
                self.of_rubric(load_rubric(path, options), answer)
            }
            Criteria::Case { path, id } => {
                files.push(path.clone());
                self.of_case(path, id, answer, options)
            }
        };
        for file in files {
            if !loaded.files.contains(&file) {
                loaded.files.push(file);
            }
        }
        loaded
    }

    fn of_rubric(&self, rubric: LoadedRubric, answer: Result<Option<String>, String>) -> Loaded {
        let scene = answer.and_then(|answer| {
            let about = GivenAnswer { text: answer.unwrap_or_default(), ..self.about.clone() };
            let (suite, case) = suite_of_answer(&rubric, CASE, &about)
                .ok_or("the criteria have problems; nothing was judged")?;
            Ok(Scene { suite, case: Arc::new(case) })
        });
        Loaded { scene, files: Vec::new(), diagnostics: rubric.diagnostics, sources: rubric.sources }
    }

    fn of_case(
        &self,
        path: &Path,
        id: &str,
        answer: Result<Option<String>, String>,
        options: &LoadOptions,
    ) -> Loaded {
        let loaded = load_suite(path, options);
        let files = loaded.sources.files().map(|(_, file)| file.path().to_path_buf()).collect();
        let broken = loaded.has_errors();
        let scene = answer.and_then(|answer| {
            let Some(suite) = loaded.suite.filter(|_| !broken) else {
                return Err("the eval file has problems; nothing was judged".to_owned());
            };
            let mut ids = Vec::new();
            let mut wanted = None;
            for case in &loaded.cases {
                let case = case.map_err(|error| error.to_string())?;
                ids.push(case.id.to_string());
                if case.id.as_str() == id {
                    wanted = Some((*case).clone());
                    break;
                }
            }
            let case = wanted.ok_or_else(|| no_case(id, &ids, path))?;
            Ok(Scene { suite, case: Arc::new(self.dressed(case, answer)?) })
        });
        Loaded { scene, files, diagnostics: loaded.diagnostics, sources: loaded.sources }
    }

    /// Keeps only the rubrics of a case and applies the overrides of the command line.
    fn dressed(&self, mut case: Case, answer: Option<String>) -> Result<Case, String> {
        case.graders.retain(|grader| matches!(grader.kind, GraderKind::Rubric(_)));
        if case.graders.is_empty() {
            return Err(format!("case `{}` has no rubric to try", case.id));
        }
        if let Some(text) = answer {
            case.output = Some(GivenOutput::Text(text));
        }
        if case.output.is_none() {
            return Err(format!(
                "case `{}` has no `output`; give an answer with `--answer` or `--answer-file`",
                case.id
            ));
        }
        let GivenAnswer { question, reference, expected_outcome, .. } = &self.about;
        if let Some(text) = question {
            case.input = vec![Message::text(Role::User, text.clone())];
        }
        if let Some(text) = reference {
            case.expected_output = vec![Message::text(Role::Assistant, text.clone())];
        }
        case.expected_outcome = expected_outcome.clone().or(case.expected_outcome);
        // Only this answer is judged, so dependencies of the case don't matter.
        case.depends_on.clear();
        Ok(case)
    }
}

fn no_case(id: &str, ids: &[String], path: &Path) -> String {
    let shown = path.display();
    if let Some(near) = did_you_mean(id, ids.iter().map(String::as_str)) {
        return format!("`{shown}` has no case `{id}`; did you mean `{near}`?");
    }
    let some: Vec<&str> = ids.iter().take(3).map(String::as_str).collect();
    format!("`{shown}` has no case `{id}`; the first are {}", some.join(", "))
}

fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("can't read the answer from standard input: {error}"))?;
    if text.trim().is_empty() {
        return Err("there is no answer: give one with `--answer`, `--answer-file` or on standard input \
                    (an empty one with `--answer ''`)"
            .to_owned());
    }
    Ok(text)
}

/// Builds a rubric in JSON from command-line options. Yes-or-no criteria are all required; with ranges the
/// pass threshold decides.
fn typed(criteria: &[String], ranges: &[String]) -> Result<String, String> {
    if !ranges.is_empty() && criteria.len() != 1 {
        return Err("`--range` belongs to one criterion; give one".to_owned());
    }
    let bands = ranges.iter().map(|range| band(range)).collect::<Result<Vec<Value>, String>>()?;
    let items: Vec<Value> = criteria
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let mut item = Map::new();
            item.insert("id".to_owned(), json!(format!("criterion-{}", at + 1)));
            item.insert("outcome".to_owned(), json!(text));
            if bands.is_empty() {
                item.insert("required".to_owned(), json!(true));
            } else {
                item.insert("score_ranges".to_owned(), json!(bands));
            }
            Value::Object(item)
        })
        .collect();
    serde_json::to_string_pretty(&json!({ "name": "rubrics", "criteria": items })).map_err(|e| e.to_string())
}

/// Parses `5-10: friendly` or `10: perfect`.
fn band(written: &str) -> Result<Value, String> {
    let expected = || {
        format!("`--range {written}`: expected LOW-HIGH: TEXT with whole numbers, such as `5-10: friendly`")
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
        let text = typed(&["says ${{ HOME }} \"quoted\"".to_owned()], &[]).unwrap();
        let rubric = read_rubric(Path::new(COMMAND_LINE), &text);
        assert!(!rubric.has_errors(), "{:?}", rubric.diagnostics);
        let criteria = rubric.rubric.expect("sound");
        assert_eq!(criteria.rubric.criteria()[0].text, "says ${{ HOME }} \"quoted\"");
        assert!(typed(&["a".to_owned(), "b".to_owned()], &["0-10: x".to_owned()]).is_err());
    }
}
