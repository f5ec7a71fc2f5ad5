//! Lines of criteria in the eval files of a run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use assize_evalfile::{
    Case, FilePosition, Grader, GraderKind, LoadOptions, RubricGrader, load_rubric, load_scorecard,
    load_suite,
};
use assize_store::{RunInfo, SuiteInfo};

use crate::process::ProcessContext;

/// Criteria with their positions, read from the files when the first one is asked for.
#[derive(Debug)]
pub(crate) struct CriterionPlaces {
    /// All files of the run, and those that are as they were.
    paths: HashMap<String, String>,
    suites: Vec<PlacedSuite>,
    found: OnceLock<HashMap<CriterionKey, (String, usize)>>,
    options: PlaceOptions,
}

/// How files are read.
struct PlaceOptions(LoadOptions);

impl std::fmt::Debug for PlaceOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PlaceOptions")
    }
}

/// A file of a run that is as it was.
#[derive(Debug)]
struct PlacedSuite {
    info: SuiteInfo,
    is_scorecard: bool,
}

/// Suite, grader, id and text of a criterion; id and text are empty for the grader itself.
type CriterionKey = (String, String, String, String);

impl CriterionPlaces {
    pub(crate) fn new(info: &RunInfo, process: &ProcessContext) -> Self {
        let is_scorecard = info.scorecard.is_some();
        let suites = info
            .suites
            .iter()
            .filter(|suite| is_scorecard || is_unchanged(&suite.path, info, process))
            .map(|suite| PlacedSuite { info: suite.clone(), is_scorecard });

        Self {
            paths: info.suites.iter().map(|suite| (suite.name.clone(), suite.path.clone())).collect(),
            suites: suites.collect(),
            found: OnceLock::new(),
            options: PlaceOptions(process.load_options(&[])),
        }
    }

    /// File and line of a criterion; else those of its grader, or the beginning of the file. Paths in the working folder
    /// are relative to it.
    pub(crate) fn find(
        &self,
        suite: &str,
        grader: &str,
        criterion: &str,
        text: &str,
    ) -> Option<(String, usize)> {
        let found = self.found.get_or_init(|| self.read());
        let get = |criterion: &str, text: &str| {
            let key = (suite.to_owned(), grader.to_owned(), criterion.to_owned(), text.to_owned());
            found.get(&key).cloned()
        };

        let file = || Some((self.paths.get(suite)?.clone(), 1));
        let (path, line) = get(criterion, text).or_else(|| get("", "")).or_else(file)?;
        let path = Path::new(&path)
            .strip_prefix(&self.options.0.working_folder)
            .map_or(path.clone(), |inner| inner.display().to_string());

        Some((path, line))
    }

    fn read(&self) -> HashMap<CriterionKey, (String, usize)> {
        let mut places = PlaceMap::default();
        for suite in &self.suites {
            places.read(suite, &self.options.0);
        }

        places.0
    }
}

/// Returns true if a file of a run has the bytes that it had then.
fn is_unchanged(path: &str, info: &RunInfo, process: &ProcessContext) -> bool {
    let Some(then) = info.inputs.iter().find(|input| input.path == path) else { return false };
    let mut hasher = blake3::Hasher::new();
    let read =
        assize_files::open_file(&process.resolve(path)).and_then(|file| hasher.update_reader(file).map(drop));

    read.is_ok() && hasher.finalize().to_hex().as_str() == then.blake3
}

#[derive(Default)]
struct PlaceMap(HashMap<CriterionKey, (String, usize)>);

impl PlaceMap {
    fn read(&mut self, suite: &PlacedSuite, options: &LoadOptions) {
        let SuiteInfo { name, path, format, .. } = &suite.info;
        let path = Path::new(path);
        if suite.is_scorecard {
            if let Some(scorecard) = load_scorecard(path, options).scorecard {
                for benchmark in &scorecard.benchmarks {
                    self.add(name, &benchmark.code, ("", ""), &benchmark.place);
                }
            }
        } else if format.is_some() {
            for case in load_suite(path, options).cases.iter().flatten() {
                self.add_case(name, &case);
            }
        } else if let Some(rubric) = load_rubric(path, options).rubric {
            // Answers are graded by a grader that is named after its type or after the file.
            for grader in ["rubrics", "rubric", name.as_str()] {
                self.add_rubric(name, grader, &rubric);
            }
        }
    }

    fn add_case(&mut self, suite: &str, case: &Case) {
        for grader in &case.graders {
            self.add_grader(suite, grader);
        }
    }

    fn add_grader(&mut self, suite: &str, grader: &Grader) {
        self.add(suite, &grader.name, ("", ""), &grader.place);
        if let GraderKind::Rubric(rubric) = &grader.kind {
            self.add_rubric(suite, &grader.name, rubric);
        }
    }

    fn add_rubric(&mut self, suite: &str, grader: &str, rubric: &RubricGrader) {
        for (criterion, place) in rubric.rubric.criteria().iter().zip(&rubric.places) {
            self.add(suite, grader, (criterion.id.as_str(), &criterion.text), place);
        }
    }

    /// Adds a position; of several the first counts.
    fn add(&mut self, suite: &str, grader: &str, (criterion, text): (&str, &str), place: &FilePosition) {
        let key = (suite.to_owned(), grader.to_owned(), criterion.to_owned(), text.to_owned());
        self.0.entry(key).or_insert_with(|| (place.path().display().to_string(), place.line));
    }
}
