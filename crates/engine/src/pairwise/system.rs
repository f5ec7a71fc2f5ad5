//! Answers to compare: from stored runs, from targets in runs, and from files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assize_evalfile::{
    AnswerColumns, LoadOptions, LoadedRubric, LoadedSuite, answers_file, load_answers, read_rubric,
};
use assize_store::{AnswerIndex, RunFolder, RunInfo};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::plan::given;
use crate::runs;

/// The answers of one system.
pub(crate) struct AnswerSet {
    /// Its name, unique in the comparison.
    pub(crate) name: String,
    pub(crate) answers: AnswerStore,
}

/// Where the answers of a system are stored.
pub(crate) enum AnswerStore {
    /// A stored run.
    Run(AnswerIndex),
    /// A file of answers, by case id.
    File(BTreeMap<String, FileAnswer>),
}

pub(crate) struct FileAnswer {
    pub(crate) question: String,
    pub(crate) text: String,
}

/// Why a system can't be compared on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MissingAnswer {
    /// The system was not run on it, or its answer failed.
    NoAnswer,
    /// The system answered a different question under the same id.
    OtherQuestion,
}

/// The answers that a name on the command line refers to.
pub(crate) enum NamedAnswers {
    /// One or more systems of a run.
    Run(Vec<AnswerSet>, RunFolder, Box<RunInfo>),
    /// A file of answers.
    File(Box<AnswerSet>, Box<LoadedSuite>, PathBuf),
}

/// Placeholder rubric for reading answer files. No answer is graded with it.
fn no_rubric() -> LoadedRubric {
    read_rubric(Path::new("pairwise.yaml"), "name: pairwise\ncriteria:\n  - Is the better answer\n")
}

impl NamedAnswers {
    /// Finds the answers of `[NAME=]SYSTEM`.
    pub(crate) fn find(
        written: &str,
        columns: &AnswerColumns,
        options: &LoadOptions,
        engine: &Engine,
    ) -> Result<Self, EngineError> {
        let (name, place) = match written.split_once('=') {
            Some((name, place)) if !name.trim().is_empty() && !engine.process().resolve(written).exists() => {
                (Some(name.trim()), place)
            }
            _ => (None, written),
        };

        if answers_file(&engine.process().resolve(place)).is_file() {
            return Self::file(name, place, columns, options, engine);
        }

        let (folder, part) = runs::find_answers(place, engine.process())?;
        if part.prompt.is_some() {
            return Err(EngineError::usage(format!(
                "`{place}` selects a prompt, and a judge compares answers to the same question: compare prompts with \
                 `assize compare`, or with a `select-best` assertion"
            )));
        }
        let info = folder.info()?;
        let label = name.unwrap_or_else(|| system_name(place));
        let targets = folder.answer_names()?.targets;
        let takes = |target_name: &Option<String>| part.target.is_none() || *target_name == part.target;
        let mut systems = Vec::new();
        for target_name in targets.iter().filter(|target_name| takes(target_name)) {
            let answers = folder.answers(target_name.as_deref(), None)?;
            let several = part.target.is_none() && targets.len() > 1;
            let name = match target_name {
                Some(target_name) if several => format!("{label}@{target_name}"),
                _ => label.to_owned(),
            };
            systems.push(AnswerSet { name, answers: AnswerStore::Run(answers) });
        }

        if systems.is_empty() {
            return Err(EngineError::usage(format!("`{place}` holds no answers")));
        }

        Ok(Self::Run(systems, folder, Box::new(info)))
    }

    fn file(
        name: Option<&str>,
        place: &str,
        columns: &AnswerColumns,
        options: &LoadOptions,
        engine: &Engine,
    ) -> Result<Self, EngineError> {
        let path = engine.process().resolve(place);
        let loaded = load_answers(&path, columns, &no_rubric(), options);
        engine.report_diagnostics(&loaded.diagnostics, &loaded.sources);

        if loaded.has_errors() {
            let message = format!("the answers of `{place}` have errors; nothing was run");
            return Err(EngineError::invalid_file(message));
        }

        let mut answers = BTreeMap::new();
        for case in &loaded.cases {
            let case = case?;
            let Some(output) = &case.output else { continue };
            let text = given(output).map_err(|error| EngineError::unrunnable(error.to_string()))?.text;
            answers.insert(case.id.to_string(), FileAnswer { question: case.question(), text });
        }

        if answers.is_empty() {
            return Err(EngineError::usage(format!("`{place}` holds no answers")));
        }

        let system = AnswerSet {
            name: name.unwrap_or_else(|| system_name(place)).to_owned(),
            answers: AnswerStore::File(answers),
        };
        Ok(Self::File(Box::new(system), Box::new(loaded), path))
    }
}

impl AnswerSet {
    /// The answer to a case and trial. `hash` and `question` identify the current question.
    pub(crate) fn answer(
        &self,
        suite: &str,
        case: &str,
        trial: u32,
        hash: &str,
        question: &str,
    ) -> Result<Result<String, MissingAnswer>, EngineError> {
        match &self.answers {
            AnswerStore::File(answers) => Ok(match answers.get(case).filter(|_| trial == 1) {
                None => Err(MissingAnswer::NoAnswer),
                // An answer without a question matches any question.
                Some(found) if !found.question.is_empty() && found.question != question => {
                    Err(MissingAnswer::OtherQuestion)
                }
                Some(found) => Ok(found.text.clone()),
            }),
            AnswerStore::Run(index) => {
                let key = (suite.to_owned(), case.to_owned(), trial);
                let row = index.row(&key)?;
                Ok(match row {
                    Some(row) if row.case_hash.as_deref().is_some_and(|stored| stored != hash) => {
                        Err(MissingAnswer::OtherQuestion)
                    }
                    Some(row) => row.answer.ok_or(MissingAnswer::NoAnswer),
                    None => Err(MissingAnswer::NoAnswer),
                })
            }
        }
    }

    /// All cases with an answer: suite (if known) and id.
    pub(crate) fn cases(&self) -> BTreeSet<(Option<String>, String)> {
        match &self.answers {
            AnswerStore::File(answers) => answers.keys().map(|case| (None, case.clone())).collect(),
            AnswerStore::Run(index) => {
                index.keys().into_iter().map(|(suite, case, _)| (Some(suite), case)).collect()
            }
        }
    }
}

/// Rejects duplicate names of systems.
pub(crate) fn check_names(systems: &[AnswerSet]) -> Result<(), EngineError> {
    let mut seen = BTreeSet::new();
    for system in systems {
        if !seen.insert(system.name.as_str()) {
            return Err(EngineError::usage(format!(
                "two systems are called `{}`: give them names, as in `base=RUN new=RUN`",
                system.name
            )));
        }
    }

    Ok(())
}

/// Last part of a path, without the extension of an answer file.
fn system_name(place: &str) -> &str {
    let last = place.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(place);
    last.strip_suffix(".jsonl").filter(|name| !name.is_empty()).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::system_name;

    #[test]
    fn systems_are_called_by_the_last_part_of_their_path() {
        for (place, name) in [
            ("runs/base/", "base"),
            ("a/b.jsonl", "b"),
            ("last~1", "last~1"),
            ("runs/x@gpt", "x@gpt"),
            (".jsonl", ".jsonl"),
        ] {
            assert_eq!(system_name(place), name);
        }
    }
}
