//! Compares systems: from their names to a run that compares them, or to a stored comparison.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use assize_evalfile::{
    AnswerColumns, LoadOptions, LoadedSuite, TextEncoding, answers_file, load_answers, load_rubric,
};
use assize_stats::ranking::TieRule;
use assize_store::{RunFolder, RunInfo};

use super::mode::{COMMAND, MissingAnswers, PairwiseRun};
use super::system::{NamedAnswers, check_names};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::load::{LoadedFile, LoadedFiles};
use crate::options::EvalOptions;

/// Options of a comparison.
#[derive(Debug, Clone)]
pub struct PairwiseOptions {
    /// Systems: stored runs, targets of these, or files of answers.
    pub systems: Vec<String>,
    /// Columns of the files of answers; `None` for their usual names.
    pub columns: Option<AnswerColumns>,
    /// Encoding of the files of answers that are text tables; found by their bytes without one.
    pub encoding: Option<TextEncoding>,
    /// Criteria for which answer is better.
    pub criteria: Vec<String>,
    /// How ties count in the ranking.
    pub ties: TieRule,
    /// Options of the run. Without `paths`, the stored runs determine the cases.
    pub eval: EvalOptions,
}

impl PairwiseOptions {
    /// Refuses options that have no effect on a comparison.
    fn check(&self) -> Result<(), EngineError> {
        let run = &self.eval.run;
        let no_use = [
            (run.threshold.is_some(), "--threshold"),
            (run.borderline.is_some(), "--borderline"),
            (run.judging.is_some(), "--judging"),
            (run.truncate.is_some(), "--truncate"),
        ];

        match no_use.iter().find(|(given, _)| *given) {
            Some((_, flag)) => {
                Err(EngineError::usage(format!("`{flag}` has no effect on a pairwise comparison; remove it")))
            }
            None => Ok(()),
        }
    }
}

/// The sides of the comparison.
pub enum PairwiseInput {
    /// Systems to compare, on these cases.
    New(Box<PairwiseRun>, LoadedFiles),
    /// A stored comparison.
    Stored(RunFolder, Box<RunInfo>),
}

impl Engine {
    /// Finds the systems of a comparison and the cases they are compared on, or the stored comparison if that
    /// is the only name.
    ///
    /// # Errors
    /// If systems or cases can't be found, or options have no effect.
    pub fn find_systems(&self, options: &PairwiseOptions) -> Result<PairwiseInput, EngineError> {
        let load_options =
            LoadOptions { encoding: options.encoding, ..self.load_options(&options.eval.roots) };
        let columns = options.columns.clone().unwrap_or_default();
        let mut systems = Vec::new();
        let (mut recorded, mut lists) = (Vec::new(), Vec::new());
        for written in &options.systems {
            match NamedAnswers::find(written, &columns, &load_options, self)? {
                NamedAnswers::Run(found, folder, info) => {
                    if info.command == COMMAND {
                        if options.systems.len() > 1 {
                            return Err(EngineError::usage(format!(
                                "`{written}` is a pairwise comparison, not a system; given alone, it is printed again"
                            )));
                        }
                        return Ok(PairwiseInput::Stored(folder, info));
                    }

                    let source = RunCaseSource::from_run(&info);
                    if !recorded.contains(&source) {
                        recorded.push(source);
                    }

                    systems.extend(found);
                }
                NamedAnswers::File(system, loaded, path) => {
                    systems.push(*system);
                    lists.push((loaded, path));
                }
            }
        }

        if options.columns.is_some() && lists.is_empty() {
            return Err(EngineError::usage(
                "`--columns` is for files of answers, and none of the systems is one; remove it",
            ));
        }
        if systems.len() < 2 {
            return Err(EngineError::usage(format!(
                "`{}` is one system; name at least two, such as `assize compare pairwise RUN_A RUN_B`",
                options.systems.join(" ")
            )));
        }

        check_names(&systems)?;
        options.check()?;

        let criteria = options.criteria.iter().map(|text| text.trim().to_owned());
        let run = PairwiseRun {
            systems,
            criteria: criteria.filter(|text| !text.is_empty()).collect(),
            ties: options.ties,
            selective: !options.eval.filter.is_empty()
                || !options.eval.tags.is_empty()
                || !options.eval.exclude_tags.is_empty(),
            found: RefCell::new(MissingAnswers::default()),
        };

        let loaded = if !options.eval.paths.is_empty() {
            self.load_for_run(&options.eval.paths, &options.eval)?
        } else if !recorded.is_empty() {
            recorded_cases(&recorded, options, self)?
        } else {
            let Some((first, path)) = lists.into_iter().next() else {
                return Err(EngineError::usage("there are no cases to compare on"));
            };
            // Its problems were reported when the answers were read.
            wrap_answer_file(LoadedSuite { diagnostics: Vec::new(), ..*first }, path)
        };

        Ok(PairwiseInput::New(Box::new(run), loaded))
    }
}

/// Where the cases of a run come from.
#[derive(Debug, PartialEq, Eq)]
enum RunCaseSource {
    /// Eval files.
    Suites(Vec<PathBuf>),
    /// A file of answers that were graded with a rubric.
    Answers { rubric: PathBuf, answers: PathBuf },
}

impl RunCaseSource {
    fn from_run(info: &RunInfo) -> Self {
        let suites: Vec<PathBuf> = info.suites.iter().map(|suite| PathBuf::from(&suite.path)).collect();
        let other =
            info.inputs.iter().map(|input| PathBuf::from(&input.path)).find(|path| !suites.contains(path));
        match (suites.as_slice(), other) {
            ([rubric], Some(answers)) if info.command == "grade" => {
                Self::Answers { rubric: rubric.clone(), answers }
            }
            _ => Self::Suites(suites),
        }
    }

    fn paths(&self) -> Vec<&PathBuf> {
        match self {
            Self::Suites(paths) => paths.iter().collect(),
            Self::Answers { rubric, answers } => vec![rubric, answers],
        }
    }

    /// Reads the cases. The files of one run are read together, so that suites have the same names as in the run.
    fn load(&self, options: &PairwiseOptions, engine: &Engine) -> Result<LoadedFiles, EngineError> {
        let (rubric, answers) = match self {
            Self::Suites(paths) => return engine.load_for_run(paths, &options.eval),
            Self::Answers { rubric, answers } => {
                (engine.process().resolve(rubric), engine.process().resolve(answers))
            }
        };
        let load_options = engine.load_options(&options.eval.roots);
        let loaded = load_answers(
            &answers,
            &AnswerColumns::default(),
            &load_rubric(&rubric, &load_options),
            &load_options,
        );

        Ok(wrap_answer_file(loaded, answers))
    }
}

/// The cases of one file of answers.
fn wrap_answer_file(loaded: LoadedSuite, path: PathBuf) -> LoadedFiles {
    let LoadedSuite { suite, cases, sources, diagnostics, .. } = loaded;
    LoadedFiles {
        files: vec![LoadedFile { path, suite, cases, sources, diagnostics }],
        scorecards: Vec::new(),
        other_yaml: Vec::new(),
    }
}

/// Reads the cases of the runs. If several runs share a suite, the first one is used.
fn recorded_cases(
    recorded: &[RunCaseSource],
    options: &PairwiseOptions,
    engine: &Engine,
) -> Result<LoadedFiles, EngineError> {
    let gone: BTreeSet<String> = recorded
        .iter()
        .flat_map(RunCaseSource::paths)
        .filter(|path| !answers_file(&engine.process().resolve(path)).is_file())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if !gone.is_empty() {
        let gone: Vec<String> = gone.into_iter().collect();
        return Err(EngineError::usage(format!(
            "the eval files of the runs were not found ({}); name them with `--suite PATH`",
            gone.join(", ")
        )));
    }

    let mut all = LoadedFiles::default();
    for source in recorded {
        let found = source.load(options, engine)?;
        all.scorecards.extend(found.scorecards);

        for file in found.files {
            let name = |file: &LoadedFile| file.suite.as_ref().map(|suite| suite.name.clone());
            if !all.files.iter().any(|known| name(known).is_some() && name(known) == name(&file)) {
                all.files.push(file);
            }
        }
    }

    Ok(all)
}
