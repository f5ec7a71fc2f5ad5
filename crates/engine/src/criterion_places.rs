//! Finds the lines of criteria in the eval files of a run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assize_evalfile::{LoadOptions, load_rubric};
use assize_load::load_suite;
use assize_model::{Case, FilePosition, Grader, GraderKind, RubricGrader};
use assize_scorecard::load_scorecard;
use assize_store::{RunInfo, SuiteInfo};

use crate::process::ProcessContext;

/// Criteria with their positions. The files are read when the first position is needed.
#[derive(Debug)]
pub(crate) struct CriterionPlaces {
    /// Paths of the files by suite name, as reports show them.
    paths: HashMap<String, String>,
    /// The files that have not changed since the run.
    suites: Vec<PlacedSuite>,
    found: OnceLock<HashMap<CriterionKey, (String, usize)>>,
    options: PlaceOptions,
}

/// Options for reading files; a wrapper, because they don't implement `Debug`.
struct PlaceOptions(LoadOptions);

impl std::fmt::Debug for PlaceOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PlaceOptions")
    }
}

/// A file that has not changed since the run.
#[derive(Debug)]
struct PlacedSuite {
    info: SuiteInfo,
    path: PathBuf,
    is_scorecard: bool,
}

/// Suite, grader, id and text of a criterion. Id and text are empty for the grader itself.
type CriterionKey = (String, String, String, String);

impl CriterionPlaces {
    /// `run` is the folder of the run. Files that are not found from the working folder are searched where the
    /// run was made, in the folders around its own.
    pub(crate) fn new(info: &RunInfo, run: &Path, process: &ProcessContext) -> Self {
        let is_scorecard = info.scorecard.is_some();
        let mut paths = HashMap::new();
        let mut suites = Vec::new();
        for suite in &info.suites {
            let found = find_file(&suite.path, info, run, process);
            let shown = found.as_ref().map_or_else(
                || suite.path.clone(),
                |(path, _)| repository_path(path, &process.working_folder),
            );
            paths.insert(suite.name.clone(), shown);
            if let Some((path, is_unchanged)) = found
                && (is_scorecard || is_unchanged)
            {
                suites.push(PlacedSuite { info: suite.clone(), path, is_scorecard });
            }
        }

        Self { paths, suites, found: OnceLock::new(), options: PlaceOptions(process.load_options(&[])) }
    }

    /// File and line of a criterion, or else of its grader, or else the beginning of the file. Paths start at the root
    /// of the file's repository, or else at the working folder if the file is in there.
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
        get(criterion, text).or_else(|| get("", "")).or_else(file)
    }

    fn read(&self) -> HashMap<CriterionKey, (String, usize)> {
        let mut places = PlaceMap::default();
        for suite in &self.suites {
            places.read(suite, &self.options.0);
        }

        // Several criteria may be in the same file.
        let mut shown: HashMap<PathBuf, String> = HashMap::new();
        let folder = &self.options.0.working_folder;
        let found = places.0.into_iter().map(|(key, (path, line))| {
            let path = shown.entry(path.clone()).or_insert_with(|| repository_path(&path, folder));
            (key, (path.clone(), line))
        });
        found.collect()
    }
}

/// Finds a file of a run. The second value tells whether it is unchanged; an unchanged file is preferred.
fn find_file(path: &str, info: &RunInfo, run: &Path, process: &ProcessContext) -> Option<(PathBuf, bool)> {
    let here = process.resolve(path);
    let run = process.resolve(run);
    let around = run.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let all = std::iter::once(here.clone()).chain(around.map(|folder| folder.join(path)));
    let unchanged = all.into_iter().find(|path_now| is_unchanged(path, path_now, info));

    unchanged.map(|path| (path, true)).or_else(|| here.exists().then_some((here, false)))
}

/// Whether a file still has the content that the run recorded.
fn is_unchanged(path: &str, now: &Path, info: &RunInfo) -> bool {
    let Some(then) = info.inputs.iter().find(|input| input.path == path) else { return false };
    let mut hasher = blake3::Hasher::new();
    let read = assize_files::open_file(now).and_then(|file| hasher.update_reader(file).map(drop));

    read.is_ok() && hasher.finalize().to_hex().as_str() == then.blake3
}

/// The path of a file from the root of its repository, as code hosts use it, or else from the working folder.
fn repository_path(path: &Path, working_folder: &Path) -> String {
    // Links are followed, because hosts know a file by its path in the repository.
    let real = working_folder.join(path).canonicalize().ok();
    let root = real.as_deref().and_then(|real| real.ancestors().find(|folder| folder.join(".git").exists()));
    if let Some((real, root)) = real.as_deref().zip(root)
        && let Ok(inner) = real.strip_prefix(root)
    {
        let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
        return parts.join("/");
    }

    path.strip_prefix(working_folder).unwrap_or(path).display().to_string()
}

#[derive(Default)]
struct PlaceMap(HashMap<CriterionKey, (PathBuf, usize)>);

impl PlaceMap {
    fn read(&mut self, suite: &PlacedSuite, options: &LoadOptions) {
        let SuiteInfo { name, format, .. } = &suite.info;
        let path = &*suite.path;
        if suite.is_scorecard {
            if let Some(scorecard) = load_scorecard(path, options).scorecard {
                for benchmark in &scorecard.benchmarks {
                    self.add(name, &benchmark.code, "", "", &benchmark.place);
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
        self.add(suite, &grader.name, "", "", &grader.place);
        if let GraderKind::Rubric(rubric) = &grader.kind {
            self.add_rubric(suite, &grader.name, rubric);
        }
    }

    fn add_rubric(&mut self, suite: &str, grader: &str, rubric: &RubricGrader) {
        for (criterion, place) in rubric.rubric.criteria().iter().zip(&rubric.places) {
            self.add(suite, grader, criterion.id.as_str(), &criterion.text, place);
        }
    }

    /// Adds a position. If there are several, the first counts.
    fn add(&mut self, suite: &str, grader: &str, criterion: &str, text: &str, place: &FilePosition) {
        let key = (suite.to_owned(), grader.to_owned(), criterion.to_owned(), text.to_owned());
        self.0.entry(key).or_insert_with(|| (place.path().to_path_buf(), place.line));
    }
}
