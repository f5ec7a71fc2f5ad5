//! Reading eval files, and selecting their cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assize_diagnostic::{Diagnostic, SourceMap, did_you_mean, render};
use assize_evalfile::{Case, LoadOptions, Suite, SuiteCases, find_suites, load_suite};
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::engine::{Engine, folder_of};
use crate::error::{EngineError, EngineErrorKind};
use crate::options::{EvalOptions, ProgramUse};

/// Ids that a pattern which matches none is compared with.
const MOST_COMPARED: usize = 10_000;

/// Eval files that were read.
#[derive(Debug, Default)]
pub struct LoadedFiles {
    /// The files.
    pub files: Vec<LoadedFile>,
    /// Scorecards found beside them, not read.
    pub scorecards: Vec<PathBuf>,
}

/// Eval file that was read.
#[derive(Debug)]
pub struct LoadedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The suite; `None` if the file can't be read at all.
    pub suite: Option<Suite>,
    /// Its cases.
    pub cases: SuiteCases,
    /// Texts that diagnostics point into.
    pub sources: SourceMap,
    /// Problems and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedFiles {
    /// Numbers of errors and warnings in all files.
    pub fn tally(&self) -> (usize, usize) {
        self.files
            .iter()
            .map(|file| render::count_by_severity(&file.diagnostics))
            .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// Tells the observer of all problems and warnings.
    pub(crate) fn report_diagnostics(&self, engine: &Engine) {
        for file in &self.files {
            engine.report_diagnostics(&file.diagnostics, &file.sources);
        }
    }

    /// Number of cases excluded because of errors. A file that could not be read counts as one.
    pub(crate) fn left_out(&self) -> usize {
        let left_out = |file: &LoadedFile| file.suite.as_ref().map_or(1, |_| file.cases.invalid_count());

        self.files.iter().map(left_out).sum()
    }
}

impl Engine {
    /// Finds and reads eval files.
    ///
    /// # Errors
    /// When a path does not exist, or holds no eval file.
    pub fn load(&self, paths: &[PathBuf], roots: &[PathBuf]) -> Result<LoadedFiles, EngineError> {
        let options = self.load_options(roots);
        self.load_with(paths, |_| options.clone())
    }

    /// Finds and reads eval files for a run with these options. Programs that write parts of a file are run if the options
    /// allow code.
    ///
    /// # Errors
    /// As in [`Engine::load`].
    pub fn load_for_run(&self, paths: &[PathBuf], options: &EvalOptions) -> Result<LoadedFiles, EngineError> {
        self.load_with(paths, |path| self.load_options_for_run(path, options))
    }

    /// Returns the options that a file is read with for a run.
    pub(crate) fn load_options_for_run(&self, path: &Path, options: &EvalOptions) -> LoadOptions {
        let load_options =
            LoadOptions { targets: options.targets.clone(), ..self.load_options(&options.roots) };
        if options.run.allow_code && options.programs == ProgramUse::Allow {
            self.with_programs(&load_options, folder_of(path), options.targets_file.as_deref())
        } else {
            load_options
        }
    }

    /// Finds eval files, and reads each with its options.
    fn load_with(
        &self,
        paths: &[PathBuf],
        options_of: impl Fn(&Path) -> LoadOptions,
    ) -> Result<LoadedFiles, EngineError> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.process().resolve(path)).collect();
        let found = find_suites(&paths);
        if let Some(message) = found.problem_message() {
            return Err(EngineError::new(EngineErrorKind::Usage, message));
        }
        if let Some(message) = found.skipped_message() {
            self.warn(message);
        }

        // A file may be given twice in different spellings, and be found in a folder as well.
        let mut known = BTreeSet::new();
        let mut files: Vec<LoadedFile> = found
            .files
            .into_iter()
            .filter(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
            .map(|path| {
                let loaded = load_suite(&path, &options_of(&path));
                LoadedFile {
                    path,
                    suite: loaded.suite,
                    cases: loaded.cases,
                    sources: loaded.sources,
                    diagnostics: loaded.diagnostics,
                }
            })
            .collect();

        disambiguate_names(&mut files);

        Ok(LoadedFiles { files, scorecards: found.scorecards })
    }
}

/// Adds their paths to suites that share a name: results are told apart by it.
fn disambiguate_names(files: &mut [LoadedFile]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for suite in files.iter().filter_map(|file| file.suite.as_ref()) {
        *seen.entry(suite.name.clone()).or_default() += 1;
    }

    for file in files {
        if let Some(suite) = file.suite.as_mut().filter(|suite| seen.get(&suite.name).is_some_and(|n| *n > 1))
        {
            suite.name = format!("{} ({})", suite.name, file.path.display());
        }
    }
}

/// Selection of the cases that are run.
pub(crate) struct CaseSelection<'a> {
    ids: Option<GlobSet>,
    /// The patterns of ids, each with a mark that it matched a case.
    patterns: Vec<(String, AtomicBool)>,
    tags: &'a [String],
    excluded_tags: &'a [String],
}

impl<'a> CaseSelection<'a> {
    /// Cases whose id matches one of the patterns, that have one of the tags and none of the excluded ones; empty lists
    /// select all and exclude none.
    pub(crate) fn new(
        filter: &[String],
        tags: &'a [String],
        excluded_tags: &'a [String],
    ) -> Result<Self, EngineError> {
        let patterns = filter.iter().map(|pattern| (pattern.clone(), AtomicBool::new(false))).collect();
        Ok(Self { ids: id_patterns(filter)?, patterns, tags, excluded_tags })
    }

    pub(crate) fn takes(&self, suite: &Suite, case: &Case) -> bool {
        let has_tag = |tag: &String| case.tags.contains(tag) || suite.tags.contains(tag);
        self.takes_id(case.id.as_str())
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
            && !self.excluded_tags.iter().any(has_tag)
    }

    /// True if the id and these tags are selected.
    pub(crate) fn takes_tagged(&self, id: &str, tags: &[String]) -> bool {
        self.takes_id(id) && (self.tags.is_empty() || self.tags.iter().any(|tag| tags.contains(tag)))
    }

    fn takes_id(&self, id: &str) -> bool {
        let Some(ids) = &self.ids else { return true };
        let matched = ids.matches(id);
        for at in &matched {
            self.patterns[*at].1.store(true, Ordering::Relaxed);
        }

        !matched.is_empty()
    }

    /// Warning about patterns that matched none of the cases that were looked at.
    pub(crate) fn unmatched_warning(&self) -> Option<String> {
        let unmatched = self.patterns.iter().filter(|(_, matched)| !matched.load(Ordering::Relaxed));
        let unmatched: Vec<String> = unmatched.map(|(pattern, _)| format!("`{pattern}`")).collect();
        (!unmatched.is_empty()).then(|| format!("no case matches `--filter` {}", unmatched.join(", ")))
    }

    /// Returns true if every case is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.ids.is_none() && self.tags.is_empty() && self.excluded_tags.is_empty()
    }

    /// Message for a selection that selects nothing.
    pub(crate) fn no_match_message(&self, loaded: &LoadedFiles) -> String {
        let cases: usize = loaded.files.iter().map(|file| file.cases.len()).sum();
        if cases == 0 {
            return "there are no valid cases to run".to_owned();
        }

        let ids = || {
            loaded
                .files
                .iter()
                .flat_map(|file| file.cases.iter())
                .filter_map(|case| Some(case.ok()?.id.to_string()))
        };
        if let Some((pattern, near)) = self.near_id(ids()) {
            return format!(
                "no case matches `--filter {pattern}`; did you mean `--filter '{near}'`? Patterns match whole ids: `*` stands for any text"
            );
        }

        let first: Vec<String> = ids().take(3).collect();
        let given = match (self.patterns.is_empty(), self.tags.is_empty()) {
            (false, true) => "`--filter`",
            (true, false) => "`--tag`",
            _ => "`--filter` and `--tag`",
        };
        match first.as_slice() {
            [only] if cases == 1 => format!("no case matches {given}; the only case is {only}"),
            _ => format!("no case matches {given}; there are {cases}, such as {}", first.join(", ")),
        }
    }

    /// The first pattern that matched nothing and is like an id, or a part of one, with a pattern that matches it.
    fn near_id(&self, ids: impl Iterator<Item = String>) -> Option<(&str, String)> {
        let ids: Vec<String> = ids.take(MOST_COMPARED).collect();
        let unmatched = self.patterns.iter().filter(|(_, matched)| !matched.load(Ordering::Relaxed));
        unmatched.map(|(pattern, _)| pattern).find_map(|pattern| {
            if ids.iter().any(|id| id.contains(pattern.as_str())) {
                return Some((pattern.as_str(), format!("*{pattern}*")));
            }
            let near = did_you_mean(pattern, ids.iter().map(String::as_str))?;
            Some((pattern.as_str(), near.to_owned()))
        })
    }
}

/// Patterns of ids; `None` where all are meant.
///
/// # Errors
/// When a pattern is none.
pub fn id_patterns(patterns: &[String]) -> Result<Option<GlobSet>, EngineError> {
    if patterns.is_empty() {
        return Ok(None);
    }

    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = Glob::new(pattern)
            .map_err(|error| EngineError::usage(format!("`--filter {pattern}`: {error}")))?;
        set.add(glob);
    }

    set.build().map(Some).map_err(|error| EngineError::usage(format!("`--filter`: {error}")))
}
