//! Named rubrics and scorecards: the files and folders of a folder, read again when they change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_evalfile::{
    LoadOptions, LoadedRubric, Scorecard, codes, is_scorecard, load_scorecard, read_rubric_file_with,
};
use serde_json::Value;

use crate::api::{RubricListing, RubricListingKind};
use crate::inline_rubric::describe_fault;
use crate::problem::RequestProblem;

/// Versions of a rubric that are remembered, the newest included: a training run that names a hash is not disturbed by an edit.
const MAX_VERSIONS: usize = 8;
/// Files of a folder that are looked at.
const MAX_FILES: usize = 10_000;
/// Folders that the files of a scorecard may lie below each other.
const MAX_DEPTH: usize = 16;
/// Largest rubric file.
const MAX_BYTES: u64 = 4 << 20;

/// A version of a rubric or scorecard.
#[derive(Clone)]
pub(crate) struct RubricVersion {
    pub(crate) hash: blake3::Hash,
    pub(crate) content: LibraryContent,
}

/// Meaning of a name.
#[derive(Clone)]
pub(crate) enum LibraryContent {
    Rubric(Arc<LoadedRubric>),
    /// A rubric with `{{ name }}` in it, which each sample has values for.
    Template(Arc<RubricTemplate>),
    Scorecard(Arc<Scorecard>),
}

/// Text of a rubric file with `{{ name }}` in it.
pub(crate) struct RubricTemplate {
    path: PathBuf,
    text: String,
    criteria: usize,
}

impl RubricTemplate {
    /// Bytes that are decoded for each sample.
    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }
}

impl LibraryContent {
    /// Reads a rubric file, a scorecard in one file, or the folder of one.
    ///
    /// # Errors
    /// With the first problem.
    fn load(path: &Path, options: &LoadOptions) -> Result<Self, String> {
        if !is_scorecard(path) && !path.is_dir() {
            let text = assize_files::read_text_up_to(path, MAX_BYTES).map_err(|error| error.to_string())?;
            let loaded = read_rubric_file_with(path, &text, options, &BTreeMap::new());
            let Some(rubric) = &loaded.rubric else {
                return Err(first_error(&loaded.diagnostics, &loaded.sources));
            };
            if !loaded.diagnostics.iter().any(|found| found.code == codes::UNKNOWN_VARIABLE) {
                return Ok(Self::Rubric(Arc::new(loaded)));
            }

            let criteria = rubric.rubric.criteria().len();
            return Ok(Self::Template(Arc::new(RubricTemplate { path: path.to_owned(), text, criteria })));
        }

        let loaded = load_scorecard(path, options);
        let problem = || first_error(&loaded.diagnostics, &loaded.sources);
        loaded.scorecard.map(|card| Self::Scorecard(Arc::new(card))).ok_or_else(problem)
    }

    const fn kind(&self) -> RubricListingKind {
        match self {
            Self::Rubric(_) | Self::Template(_) => RubricListingKind::Rubric,
            Self::Scorecard(_) => RubricListingKind::Scorecard,
        }
    }

    fn criteria(&self) -> usize {
        match self {
            Self::Rubric(rubric) => rubric.rubric.as_ref().map_or(0, |rubric| rubric.rubric.criteria().len()),
            Self::Template(template) => template.criteria,
            Self::Scorecard(scorecard) => scorecard.benchmarks.len(),
        }
    }
}

/// A named rubric.
struct NamedVersions {
    /// Newest first; at least one.
    versions: Vec<RubricVersion>,
    /// Hash of a file that could not be used, and the reason.
    broken: Option<(blake3::Hash, String)>,
}

/// Change that a look at the folder found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LibraryChange {
    Loaded { name: String, hash: String },
    Broken { name: String, problem: String },
    Removed { name: String },
}

/// The rubrics of a folder.
pub(crate) struct RubricLibrary {
    folder: Option<PathBuf>,
    options: LoadOptions,
    known: RwLock<BTreeMap<String, NamedVersions>>,
    /// Files that never could be used.
    unusable: RwLock<BTreeMap<String, (blake3::Hash, String)>>,
}

impl RubricLibrary {
    /// Library of a folder that was not looked at yet.
    pub(crate) fn new(folder: Option<PathBuf>, options: LoadOptions) -> Self {
        Self { folder, options, known: RwLock::default(), unusable: RwLock::default() }
    }

    /// Version of a name: the newest, or the one with this hash.
    ///
    /// # Errors
    /// When nothing has this name, or no version this hash.
    pub(crate) fn find(&self, name: &str, hash: Option<&str>) -> Result<RubricVersion, RubricMissing> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let Some(named) = known.get(name) else { return Err(RubricMissing::Name) };
        let newest = named.versions.first().ok_or(RubricMissing::Name)?;
        let Some(hash) = hash else { return Ok(newest.clone()) };

        let found = named.versions.iter().find(|version| *version.hash.to_hex() == *hash);
        found.cloned().ok_or_else(|| RubricMissing::Hash(newest.hash.to_hex().to_string()))
    }

    /// A loaded rubric with the values of a sample in the place of its names.
    ///
    /// # Errors
    /// With every name that has no value; `place` is where the request names the rubric.
    pub(crate) fn fill(
        &self,
        template: &RubricTemplate,
        vars: &BTreeMap<String, Value>,
        place: &str,
    ) -> Result<LoadedRubric, Vec<RequestProblem>> {
        let loaded = read_rubric_file_with(&template.path, &template.text, &self.options, vars);
        let faults = loaded.diagnostics.iter().filter_map(describe_fault);
        let problems: Vec<RequestProblem> =
            faults.map(|message| RequestProblem::new(place, message)).collect();
        if problems.is_empty() { Ok(loaded) } else { Err(problems) }
    }

    /// All rubrics by name, and the files that could not be used.
    pub(crate) fn list(&self) -> (Vec<RubricListing>, BTreeMap<String, String>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let listed = known.iter().filter_map(|(name, named)| {
            let newest = named.versions.first()?;
            Some(RubricListing {
                name: name.clone(),
                hash: newest.hash.to_hex().to_string(),
                earlier: named.versions[1..]
                    .iter()
                    .map(|version| version.hash.to_hex().to_string())
                    .collect(),
                kind: newest.content.kind(),
                criteria: newest.content.criteria(),
                problem: named.broken.as_ref().map(|(_, problem)| problem.clone()),
            })
        });
        let unusable = self.unusable.read().unwrap_or_else(PoisonError::into_inner);

        (
            listed.collect(),
            unusable.iter().map(|(name, (_, problem))| (name.clone(), problem.clone())).collect(),
        )
    }

    /// Looks at the folder and takes over what changed. A file that is broken leaves the version before it in use.
    ///
    /// # Errors
    /// When the folder can't be read; everything stays as it is then.
    pub(crate) fn refresh(&self) -> Result<Vec<LibraryChange>, String> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let files = rubric_files(folder)?;
        let mut changes = Vec::new();

        for (name, path) in &files {
            // A file that can't be read now may be in the middle of being replaced.
            let Some(hash) = content_hash(path) else { continue };
            if self.knows(name, hash) {
                continue;
            }

            changes.push(self.take(name, hash, LibraryContent::load(path, &self.options)));
        }

        changes.extend(self.forget_all_but(&files));
        Ok(changes)
    }

    fn knows(&self, name: &str, hash: blake3::Hash) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let unusable = self.unusable.read().unwrap_or_else(PoisonError::into_inner);
        match known.get(name) {
            Some(named) => match &named.broken {
                Some((broken, _)) => *broken == hash,
                None => named.versions.first().is_some_and(|version| version.hash == hash),
            },
            None => unusable.get(name).is_some_and(|(broken, _)| *broken == hash),
        }
    }

    fn take(&self, name: &str, hash: blake3::Hash, loaded: Result<LibraryContent, String>) -> LibraryChange {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut unusable = self.unusable.write().unwrap_or_else(PoisonError::into_inner);
        let content = match loaded {
            Ok(content) => content,
            Err(problem) => {
                match known.get_mut(name) {
                    Some(named) => named.broken = Some((hash, problem.clone())),
                    None => drop(unusable.insert(name.to_owned(), (hash, problem.clone()))),
                }
                return LibraryChange::Broken { name: name.to_owned(), problem };
            }
        };

        unusable.remove(name);
        let version = RubricVersion { hash, content };
        let named =
            known.entry(name.to_owned()).or_insert(NamedVersions { versions: Vec::new(), broken: None });
        named.broken = None;
        named.versions.retain(|known| known.hash != hash);
        named.versions.insert(0, version);
        named.versions.truncate(MAX_VERSIONS);
        LibraryChange::Loaded { name: name.to_owned(), hash: hash.to_hex().to_string() }
    }

    fn forget_all_but(&self, files: &BTreeMap<String, PathBuf>) -> Vec<LibraryChange> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut unusable = self.unusable.write().unwrap_or_else(PoisonError::into_inner);
        unusable.retain(|name, _| files.contains_key(name));
        let gone: Vec<String> = known.keys().filter(|name| !files.contains_key(*name)).cloned().collect();
        for name in &gone {
            known.remove(name);
        }

        gone.into_iter().map(|name| LibraryChange::Removed { name }).collect()
    }
}

/// Reason a named rubric can't be used.
#[derive(Debug)]
pub(crate) enum RubricMissing {
    /// There is none of this name.
    Name,
    /// No version that is remembered has this hash; that of the newest.
    Hash(String),
}

/// The rubric files and scorecards of a folder by name. A name is looked up among these and never made into a path.
fn rubric_files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let failed = |error: std::io::Error| format!("can't read the folder `{}`: {error}", folder.display());
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)?.take(MAX_FILES) {
        let path = entry.map_err(failed)?.path();
        let is_folder = path.is_dir();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_file = matches!(ending, "yaml" | "yml" | "json") && path.is_file();
        let is_loaded = is_file || (is_folder && is_scorecard(&path));
        if !is_loaded {
            continue;
        }
        let name = if is_folder { path.file_name() } else { path.file_stem() };
        let Some(name) = name.and_then(|name| name.to_str()) else { continue };
        if !name.starts_with('.') {
            files.entry(name.to_owned()).or_insert(path);
        }
    }

    Ok(files)
}

/// Hash of a file, or of the names and contents of all files of a folder; `None` for what can't be read now.
fn content_hash(path: &Path) -> Option<blake3::Hash> {
    if !path.is_dir() {
        return Some(blake3::hash(&assize_files::read_bytes(path, MAX_BYTES).ok()?));
    }

    let mut files = Vec::new();
    list_files(path, MAX_DEPTH, &mut files)?;
    files.sort();

    let mut hasher = blake3::Hasher::new();
    for file in files {
        let name = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
        let content = assize_files::read_bytes(&file, MAX_BYTES).ok()?;
        for part in [name.as_bytes(), &content] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }

    Some(hasher.finalize())
}

/// Adds the files below a folder that can be a part of a scorecard. Links to folders are not followed.
fn list_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Option<()> {
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if kind.is_dir() && depth > 0 {
            list_files(&path, depth - 1, files)?;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !kind.is_dir()
            && files.len() < MAX_FILES
            && matches!(ending, "yaml" | "yml" | "json" | "jsonl" | "md")
        {
            files.push(path);
        }
    }

    Some(())
}

fn first_error(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let mut messages = errors.map(|found| {
        let at = sources.position(found.primary.span);
        format!("line {}, column {}: {}", at.line, at.column, found.title)
    });
    let first = messages.next().unwrap_or_else(|| "it has errors".to_owned());
    match messages.count() {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_file_leaves_the_version_before_it_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("support.yaml");
        let library = RubricLibrary::new(Some(folder.path().to_owned()), LoadOptions::new(folder.path()));
        std::fs::write(&file, "- Says hello\n").unwrap();
        std::fs::write(folder.path().join("notes.txt"), "no rubric").unwrap();

        let changes = library.refresh().unwrap();
        assert!(
            matches!(&changes[..], [LibraryChange::Loaded { name, .. }] if name == "support"),
            "{changes:?}"
        );
        let first = library.find("support", None).unwrap();
        assert!(library.refresh().unwrap().is_empty(), "nothing changed");

        std::fs::write(&file, "criteria: [a\n").unwrap();
        assert!(matches!(&library.refresh().unwrap()[..], [LibraryChange::Broken { .. }]));
        assert!(library.refresh().unwrap().is_empty(), "it is told once");
        assert_eq!(library.find("support", None).unwrap().hash, first.hash);
        assert!(library.list().0[0].problem.as_ref().unwrap().contains("line"));

        std::fs::write(&file, "- Says hello\n- Says goodbye\n").unwrap();
        library.refresh().unwrap();
        let hash = first.hash.to_hex().to_string();
        assert_eq!(library.list().0[0].earlier, std::slice::from_ref(&hash));
        assert_eq!(
            library.find("support", Some(&hash)).unwrap().hash,
            first.hash,
            "an earlier version is kept"
        );
        assert!(matches!(library.find("support", Some("0")), Err(RubricMissing::Hash(_))));

        std::fs::remove_file(&file).unwrap();
        assert!(matches!(&library.refresh().unwrap()[..], [LibraryChange::Removed { .. }]));
        for name in ["support", "../support", "/etc/passwd", "support.yaml", ""] {
            assert!(matches!(library.find(name, None), Err(RubricMissing::Name)), "{name}");
        }
    }
}
