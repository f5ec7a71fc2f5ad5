//! Reads eval files and selects their cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assize_diagnostic::{Diagnostic, SourceMap, did_you_mean, render};
use assize_document::codes;
use assize_evalfile::{LoadOptions, ReadTotals, SuiteCases};
use assize_load::{DiscoveredFiles, find_suites, load_suite};
use assize_model::{Case, Suite};
use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::consent::ConsentGate;
use crate::engine::{Engine, folder_of};
use crate::error::{EngineError, EngineErrorKind};
use crate::options::EvalOptions;
use crate::process::ProcessContext;
use crate::runs::failed_cases;

/// The most ids that a pattern without a match is compared with.
const MAX_COMPARED_IDS: usize = 10_000;

/// The most tags that a message lists.
const MAX_LISTED_TAGS: usize = 20;

/// Eval files that were read.
#[derive(Debug, Default)]
pub struct LoadedFiles {
    /// The files.
    pub files: Vec<LoadedFile>,
    /// Scorecards in the same folders. They were not read.
    pub scorecards: Vec<PathBuf>,
    /// Other YAML files in the folders. They were not read.
    pub other_yaml: Vec<PathBuf>,
}

/// An eval file that was read.
#[derive(Debug)]
pub struct LoadedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The suite; `None` if the file can't be read at all.
    pub suite: Option<Suite>,
    /// Its cases.
    pub cases: SuiteCases,
    /// Sources that diagnostics point into.
    pub sources: SourceMap,
    /// Problems and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedFile {
    /// A file that is not read, because those before it take all memory that files may take.
    fn unread(path: PathBuf) -> Self {
        let (cases, sources, diagnostics) = (SuiteCases::default(), SourceMap::new(), Vec::new());
        Self { path, suite: None, cases, sources, diagnostics }
    }

    /// Whether the file has valid cases, and no error that applies to all of them.
    pub(crate) fn can_run_in_part(&self) -> bool {
        !self.cases.is_empty() && !self.cases.have_errors_outside()
    }
}

impl LoadedFiles {
    /// The numbers of errors and warnings in all files.
    pub fn tally(&self) -> (usize, usize) {
        render::count_by_severity(self.files.iter().flat_map(|file| &file.diagnostics))
    }

    /// Reports all problems and warnings to the observer.
    pub(crate) fn report_diagnostics(&self, engine: &Engine) {
        for file in &self.files {
            engine.report_diagnostics(&file.diagnostics, &file.sources);
        }
    }

    /// Treats files with errors outside their cases as files that can't be read. A setting that was not
    /// understood applies to every case, so a run without it would not answer the user's question.
    fn leave_out_broken_suites(&mut self) {
        for file in self.files.iter_mut().filter(|file| file.cases.have_errors_outside()) {
            file.suite = None;
            file.cases = SuiteCases::default();
        }
    }

    /// The names of the files that are excluded completely; empty if there are none.
    pub(crate) fn left_out_files(&self) -> String {
        let files = self.files.iter().filter(|file| file.suite.is_none());
        let files: Vec<String> = files.map(|file| format!("`{}`", file.path.display())).collect();
        if files.is_empty() { String::new() } else { format!("; no case of {} was run", files.join(", ")) }
    }

    /// The number of cases excluded because of errors. A file that could not be read counts as one.
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

    /// Finds and reads eval files for a run with these options. Programs that write parts of a file are run if the user
    /// consents and the run is not only planned.
    ///
    /// # Errors
    /// As in [`Engine::load`].
    pub fn load_for_run(&self, paths: &[PathBuf], options: &EvalOptions) -> Result<LoadedFiles, EngineError> {
        let mut loaded = self.load_with(paths, |path| self.load_options_for_run(path, options))?;
        if options.keep_going {
            loaded.leave_out_broken_suites();
        }

        Ok(loaded)
    }

    /// The options with which a file is read for a run.
    pub(crate) fn load_options_for_run(&self, path: &Path, options: &EvalOptions) -> LoadOptions {
        let load_options =
            LoadOptions { targets: options.targets.clone(), ..self.load_options(&options.roots) };
        let gate = ConsentGate::new(self.process(), options.run.programs, &[path.to_path_buf()]);
        if options.dry_run {
            return LoadOptions { reads_everywhere: gate.programs_of(None).is_some(), ..load_options };
        }

        let targets_file = options.targets_file.as_deref();
        self.with_programs(load_options, folder_of(path), targets_file, gate.programs_of(None))
    }

    /// Finds eval files, and reads each with its own options.
    pub(crate) fn load_with(
        &self,
        paths: &[PathBuf],
        options_of: impl Fn(&Path) -> LoadOptions,
    ) -> Result<LoadedFiles, EngineError> {
        self.load_found(self.find(paths), options_of)
    }

    /// Finds eval files.
    pub(crate) fn find(&self, paths: &[PathBuf]) -> DiscoveredFiles {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.process().resolve(path)).collect();
        find_suites(&paths)
    }

    /// Reads each of the eval files that were found with its own options.
    pub(crate) fn load_found(
        &self,
        found: DiscoveredFiles,
        options_of: impl Fn(&Path) -> LoadOptions,
    ) -> Result<LoadedFiles, EngineError> {
        if let Some(message) = found.problem_message() {
            return Err(EngineError::new(EngineErrorKind::Usage, message));
        }
        if let Some(message) = found.skipped_message() {
            self.warn(message);
        }

        // A file may be given twice in different spellings, and be found in a folder as well.
        let mut known = BTreeSet::new();
        let mut totals = ReadTotals::default();
        let mut files: Vec<LoadedFile> = found
            .files
            .into_iter()
            .filter(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
            .map(|path| {
                if totals.is_too_much() {
                    return LoadedFile::unread(path);
                }
                let loaded =
                    load_suite(&path, &LoadOptions { read_before: totals.clone(), ..options_of(&path) });
                totals = loaded.totals;
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

        Ok(LoadedFiles { files, scorecards: found.scorecards, other_yaml: found.other_yaml })
    }
}

/// Gives suites of the same name distinct ones, because results are identified by them: adds their paths within
/// the innermost folder that holds all of them. So the name does not depend on the working folder or on how the
/// command line spells the paths.
fn disambiguate_names(files: &mut [LoadedFile]) {
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        if let Some(suite) = &file.suite {
            same.entry(suite.name.clone()).or_default().push(index);
        }
    }

    for (name, indexes) in same.into_iter().filter(|(_, indexes)| indexes.len() > 1) {
        let paths: Vec<PathBuf> = indexes.iter().map(|index| absolute(&files[*index].path)).collect();
        let folder = common_folder(&paths);
        let names: Vec<String> =
            paths.iter().map(|path| format!("{name} ({})", path_within(path, folder))).collect();

        let first = files[indexes[0]].path.clone();
        for (at, (index, unique)) in indexes.iter().zip(names).enumerate() {
            let file = &mut files[*index];
            let warning = same_name_warning(file, &name, &first).filter(|_| at > 0);
            file.diagnostics.extend(warning);
            if let Some(suite) = &mut file.suite {
                suite.name = unique;
            }
        }
    }
}

/// The canonical path of a file.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

/// The innermost folder that holds all of these files.
fn common_folder(paths: &[PathBuf]) -> &Path {
    let first = paths.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    first
        .ancestors()
        .find(|folder| paths.iter().all(|path| path.starts_with(folder)))
        .unwrap_or(Path::new(""))
}

/// The path within a folder, with `/` on every system.
fn path_within(path: &Path, folder: &Path) -> String {
    let rest = path.strip_prefix(folder).unwrap_or(path);
    rest.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Warns about a name that a file shares with the `first` one, unless the name was derived from its path.
fn same_name_warning(file: &LoadedFile, name: &str, first: &Path) -> Option<Diagnostic> {
    let place = file.suite.as_ref()?.name_place.as_ref()?;
    let span = file.sources.word_at(place.path(), place.line, place.column)?;
    let title = format!("`{name}` is also the name of {}", first.display());
    Some(
        Diagnostic::warning(codes::DUPLICATE_SUITE, title)
            .at(span, "not the only one")
            .with_note("their results are distinguished by the paths of the files")
            .with_help("give each file a `name` of its own: run alone, it has another name than here"),
    )
}

/// Selects the cases to run.
pub(crate) struct CaseSelection<'a> {
    ids: Option<GlobSet>,
    /// The patterns for ids, each with a mark if it matched a case.
    patterns: Vec<(String, AtomicBool)>,
    tags: &'a [String],
    excluded_tags: &'a [String],
    /// A run, with the suites and ids of its failed cases, if only those run again.
    failed: Option<(&'a str, BTreeSet<(String, String)>)>,
}

impl<'a> CaseSelection<'a> {
    /// Selects cases with an id that matches one of the patterns, with one of the tags and none of the excluded
    /// ones. Empty lists select all and exclude none.
    pub(crate) fn new(
        filter: &[String],
        tags: &'a [String],
        excluded_tags: &'a [String],
    ) -> Result<Self, EngineError> {
        let patterns = filter.iter().map(|pattern| (pattern.clone(), AtomicBool::new(false))).collect();
        Ok(Self { ids: id_patterns(filter)?, patterns, tags, excluded_tags, failed: None })
    }

    /// Limits the selection to the cases that failed or are incomplete in a stored run, if one is named.
    pub(crate) fn of_failed(
        self,
        run: Option<&'a str>,
        process: &ProcessContext,
    ) -> Result<Self, EngineError> {
        let failed = run.map(|run| Ok::<_, EngineError>((run, failed_cases(run, process)?)));
        Ok(Self { failed: failed.transpose()?, ..self })
    }

    pub(crate) fn takes(&self, suite: &Suite, case: &Case) -> bool {
        let has_tag = |tag: &String| case.tags.contains(tag) || suite.tags.contains(tag);
        let failed = |(_, cases): &(&str, BTreeSet<(String, String)>)| {
            cases.contains(&(suite.name.clone(), case.id.to_string()))
        };
        self.takes_id(case.id.as_str())
            && self.failed.as_ref().is_none_or(failed)
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
            && !self.excluded_tags.iter().any(has_tag)
    }

    /// Whether a case with this id and these tags is selected.
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

    /// Warning about patterns that have matched no case yet.
    pub(crate) fn unmatched_warning(&self) -> Option<String> {
        let unmatched = self.patterns.iter().filter(|(_, matched)| !matched.load(Ordering::Relaxed));
        let unmatched: Vec<String> = unmatched.map(|(pattern, _)| format!("`{pattern}`")).collect();
        (!unmatched.is_empty()).then(|| format!("no case matches `--filter` {}", unmatched.join(", ")))
    }

    /// Whether every case is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.ids.is_none() && self.failed.is_none() && self.tags.is_empty() && self.excluded_tags.is_empty()
    }

    /// Message for a selection that is empty.
    pub(crate) fn no_match_message(&self, parts: &[(Option<&Suite>, &SuiteCases)]) -> String {
        let cases: usize = parts.iter().map(|(_, cases)| cases.len()).sum();
        if cases == 0 {
            return "there are no valid cases to run".to_owned();
        }
        if let Some((run, _)) = &self.failed {
            return format!(
                "no case that failed or is incomplete in run `{run}` is in these files and selected"
            );
        }

        let ids = || {
            let cases = parts.iter().flat_map(|(_, cases)| cases.iter());
            cases.filter_map(|case| Some(case.ok()?.id.to_string()))
        };
        if let Some((pattern, near)) = self.near_id(ids()) {
            return format!(
                "no case matches `--filter {pattern}`; did you mean `--filter '{near}'`? Patterns match whole ids: `*` stands for any text"
            );
        }

        if self.patterns.is_empty() && !self.tags.is_empty() {
            return no_tag_message(self.tags, parts);
        }

        let first: Vec<String> = ids().take(3).collect();
        let given = if self.tags.is_empty() { "`--filter`" } else { "`--filter` and `--tag`" };
        match first.as_slice() {
            [only] if cases == 1 => format!("no case matches {given}; the only case is {only}"),
            _ => format!("no case matches {given}; there are {cases}, such as {}", first.join(", ")),
        }
    }

    /// The first pattern without a match that resembles an id or a part of one, with a pattern that would match
    /// that.
    fn near_id(&self, ids: impl Iterator<Item = String>) -> Option<(&str, String)> {
        let ids: Vec<String> = ids.take(MAX_COMPARED_IDS).collect();
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

/// Message for tags that no case has, with the tags that exist.
fn no_tag_message(wanted: &[String], parts: &[(Option<&Suite>, &SuiteCases)]) -> String {
    let of_suites = parts.iter().filter_map(|(suite, _)| *suite).flat_map(|suite| suite.tags.clone());
    let cases =
        parts.iter().flat_map(|(_, cases)| cases.iter()).filter_map(Result::ok).take(MAX_COMPARED_IDS);
    let mut tags: BTreeSet<String> = of_suites.collect();
    tags.extend(cases.flat_map(|case| case.tags.clone()));

    let wanted: Vec<String> = wanted.iter().map(|tag| format!("`--tag {tag}`")).collect();
    let mut shown: Vec<String> = tags.iter().take(MAX_LISTED_TAGS).map(|tag| format!("`{tag}`")).collect();
    if tags.len() > shown.len() {
        shown.push("...".to_owned());
    }
    let tags = if tags.is_empty() {
        "no case has a tag".to_owned()
    } else {
        format!("the tags are {}", shown.join(", "))
    };
    format!("no case matches {}; {tags}", wanted.join(" or "))
}

/// Parses patterns of ids; `None` if there are none.
///
/// # Errors
/// When a pattern is invalid.
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
