//! The systems of a comparison: stored runs, targets of them, and files of answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assize_evalfile::{LoadOptions, LoadedRubric, LoadedSuite, load_answers, read_rubric};
use assize_store::{AnswerIndex, RunFolder, RunInfo};

use crate::command::plan::given;
use crate::command::runs;
use crate::context::Context;
use crate::output;

/// A system with its answers.
pub(super) struct System {
    /// Its name, unique in the comparison.
    pub(super) name: String,
    pub(super) answers: Answers,
}

/// Source of a system's answers.
pub(super) enum Answers {
    /// A stored run.
    Run(AnswerIndex),
    /// A file of answers, by case id.
    File(BTreeMap<String, FileAnswer>),
}

pub(super) struct FileAnswer {
    pub(super) question: String,
    pub(super) text: String,
}

/// Reason for which a system is excluded from a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    /// The system was not run on it, or its answer failed.
    NoAnswer,
    /// The system answered a different question under the same id.
    OtherQuestion,
}

/// Argument of the command line, resolved.
pub(super) enum Named {
    /// One or more systems of a run.
    Run(Vec<System>, RunFolder, Box<RunInfo>),
    /// A file of answers.
    File(Box<System>, Box<LoadedSuite>, PathBuf),
}

/// Placeholder rubric for reading answer files; nothing is graded by it.
fn no_rubric() -> LoadedRubric {
    read_rubric(Path::new("pairwise.yaml"), "name: pairwise\ncriteria:\n  - Is the better answer\n")
}

impl Named {
    /// Resolves an argument: `[NAME=]SYSTEM`.
    pub(super) fn find(written: &str, options: &LoadOptions, context: &Context) -> Result<Self, String> {
        let (name, place) = match written.split_once('=') {
            Some((name, place)) if !name.trim().is_empty() && !Path::new(written).exists() => {
                (Some(name.trim()), place)
            }
            _ => (None, written),
        };
        let path = context.working_folder.join(place);
        if path.is_file() {
            return Self::file(name, place, options, context);
        }
        let (folder, target) = runs::find_answers(place, context)?;
        let info = folder.info().map_err(|error| error.to_string())?;
        let label = name.unwrap_or_else(|| short(place));
        let targets = folder.answered_by().map_err(|error| error.to_string())?;
        let takes = |of: &Option<String>| target.is_none() || *of == target;
        let mut systems = Vec::new();
        for of in targets.iter().filter(|of| takes(of)) {
            let answers = folder.answers(of.as_deref()).map_err(|error| error.to_string())?;
            let several = target.is_none() && targets.len() > 1;
            let name = match of {
                Some(of) if several => format!("{label}@{of}"),
                _ => label.to_owned(),
            };
            systems.push(System { name, answers: Answers::Run(answers) });
        }
        if systems.is_empty() {
            return Err(match target {
                Some(target) => format!("`{place}` holds no answers of a target `{target}`"),
                None => format!("`{place}` holds no answers"),
            });
        }
        Ok(Self::Run(systems, folder, Box::new(info)))
    }

    fn file(
        name: Option<&str>,
        place: &str,
        options: &LoadOptions,
        context: &Context,
    ) -> Result<Self, String> {
        let path = PathBuf::from(place);
        let loaded = load_answers(&path, &no_rubric(), options);
        output::say_diagnostics(&loaded.diagnostics, &loaded.sources, context);
        if loaded.has_errors() {
            return Err(format!("the answers of `{place}` have problems; nothing was run"));
        }
        let mut answers = BTreeMap::new();
        for case in &loaded.cases {
            let case = case.map_err(|error| error.to_string())?;
            let Some(output) = &case.output else { continue };
            let text = given(output)?.text;
            answers.insert(case.id.to_string(), FileAnswer { question: case.question(), text });
        }
        if answers.is_empty() {
            return Err(format!("`{place}` holds no answers"));
        }
        let system =
            System { name: name.unwrap_or_else(|| short(place)).to_owned(), answers: Answers::File(answers) };
        Ok(Self::File(Box::new(system), Box::new(loaded), path))
    }
}

impl System {
    /// The answer to a case and its repeat. `hash` and `question` identify the current question.
    pub(super) fn answer(
        &self,
        suite: &str,
        case: &str,
        repeat: u32,
        hash: &str,
        question: &str,
    ) -> Result<Result<String, Lack>, String> {
        match &self.answers {
            Answers::File(answers) => Ok(match answers.get(case).filter(|_| repeat == 1) {
                None => Err(Lack::NoAnswer),
                // An answer without a question matches any question.
                Some(found) if !found.question.is_empty() && found.question != question => {
                    Err(Lack::OtherQuestion)
                }
                Some(found) => Ok(found.text.clone()),
            }),
            Answers::Run(index) => {
                let key = (suite.to_owned(), case.to_owned(), repeat);
                let row = index.row(&key).map_err(|error| error.to_string())?;
                Ok(match row {
                    Some(row) if row.case_hash.as_deref().is_some_and(|of| of != hash) => {
                        Err(Lack::OtherQuestion)
                    }
                    Some(row) => row.answer.ok_or(Lack::NoAnswer),
                    None => Err(Lack::NoAnswer),
                })
            }
        }
    }

    /// All cases with an answer: suite, if known, and id.
    pub(super) fn cases(&self) -> BTreeSet<(Option<String>, String)> {
        match &self.answers {
            Answers::File(answers) => answers.keys().map(|case| (None, case.clone())).collect(),
            Answers::Run(index) => {
                index.keys().into_iter().map(|(suite, case, _)| (Some(suite), case)).collect()
            }
        }
    }
}

/// Rejects duplicate names of systems.
pub(super) fn told_apart(systems: &[System]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for system in systems {
        if !seen.insert(system.name.as_str()) {
            return Err(format!(
                "two systems are called `{}`: give them names, as in `base=RUN new=RUN`",
                system.name
            ));
        }
    }
    Ok(())
}

/// Last part of a path, without the extension of an answer file.
fn short(place: &str) -> &str {
    let last = place.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(place);
    last.strip_suffix(".jsonl").filter(|name| !name.is_empty()).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn systems_are_called_by_the_last_part_of_their_path() {
        for (place, name) in [
            ("runs/base/", "base"),
            ("a/b.jsonl", "b"),
            ("last~1", "last~1"),
            ("runs/x@gpt", "x@gpt"),
            (".jsonl", ".jsonl"),
        ] {
            assert_eq!(short(place), name);
        }
    }
}
