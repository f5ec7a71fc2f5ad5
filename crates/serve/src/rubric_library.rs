//! Named rubrics and scorecards: the files and subfolders of a folder, read again when they change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap, list_first};
use assize_document::codes;
use assize_evalfile::{LoadOptions, LoadedRubric, read_rubric_file_with};
use assize_model::Scorecard;
use assize_scorecard::{is_scorecard, load_scorecard};
use parking_lot::RwLock;
use serde_json::Value;

use crate::api::{RubricListing, RubricListingKind};
use crate::inline_rubric::describe_fault;
use crate::problem::RequestProblem;

/// Versions of a rubric that are remembered, including the newest: an edit does not disturb a training run that
/// names a hash.
const MAX_VERSIONS: usize = 8;
/// Number of removed names whose versions are remembered.
const MAX_REMOVED: usize = 256;
/// Extensions of rubric files. If several files share a name, the first extension wins.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Maximum number of names listed in a message. Others are only counted.
const MAX_NAMED: usize = 10;
/// Maximum number of files of a folder that are examined.
const MAX_FILES: usize = 10_000;
/// Deepest folder in which files of a scorecard are found.
const MAX_DEPTH: usize = 16;
/// Largest rubric file.
const MAX_BYTES: u64 = 4 << 20;

/// A version of a rubric or scorecard.
#[derive(Clone)]
pub(crate) struct RubricVersion {
    pub(crate) hash: blake3::Hash,
    pub(crate) content: LibraryContent,
}

/// The content behind a name in the library.
#[derive(Clone)]
pub(crate) enum LibraryContent {
    Rubric(Arc<LoadedRubric>),
    /// A rubric with `{{ name }}` in it; each sample supplies the values.
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
    /// Number of bytes that are decoded for each sample.
    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }
}

impl LibraryContent {
    /// Reads a rubric file, a scorecard in one file, or a scorecard folder.
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
#[derive(Default)]
struct NamedVersions {
    /// Newest first; at least one.
    versions: Vec<RubricVersion>,
    /// Hash of a file that can't be used, and why.
    broken: Option<(blake3::Hash, String)>,
    /// True once its file is gone: only clients that name a hash still get it.
    is_removed: bool,
}

/// A change found when the folder was read again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LibraryChange {
    Loaded {
        name: String,
        hash: String,
    },
    /// A file can't be used; `hash` is the version that stays in use, if there is one.
    Broken {
        path: PathBuf,
        problem: String,
        in_use: Option<String>,
    },
    Removed {
        name: String,
    },
}

/// The rubrics of a folder.
pub(crate) struct RubricLibrary {
    folder: Option<PathBuf>,
    options: LoadOptions,
    known: RwLock<BTreeMap<String, NamedVersions>>,
    /// Files that could never be used, with the hash and the reason.
    unusable: RwLock<BTreeMap<String, (blake3::Hash, String)>>,
}

impl RubricLibrary {
    /// Library of a folder that has not been read yet.
    pub(crate) fn new(folder: Option<PathBuf>, options: LoadOptions) -> Self {
        Self { folder, options, known: RwLock::default(), unusable: RwLock::default() }
    }

    /// The version of a name: the newest, or the one with this hash.
    ///
    /// # Errors
    /// When the name is unknown, or no version has this hash.
    pub(crate) fn find(&self, name: &str, hash: Option<&str>) -> Result<RubricVersion, RubricMissing> {
        let known = self.known.read();
        let Some(named) = known.get(name) else { return Err(RubricMissing::Name) };
        let newest = named.versions.first().filter(|_| !named.is_removed);
        let Some(hash) = hash else { return newest.cloned().ok_or(RubricMissing::Name) };

        let found = named.versions.iter().find(|version| *version.hash.to_hex() == *hash);
        let newest = newest.map(|newest| newest.hash.to_hex().to_string());
        found.cloned().ok_or(RubricMissing::Hash(newest))
    }

    /// A loaded rubric with the values of a sample filled in.
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

    /// All rubrics by name, and the files that can't be used.
    pub(crate) fn list(&self) -> (Vec<RubricListing>, BTreeMap<String, String>) {
        let known = self.known.read();
        let listed = known.iter().filter(|(_, named)| !named.is_removed).filter_map(|(name, named)| {
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
        let unusable = self.unusable.read();

        (
            listed.collect(),
            unusable.iter().map(|(name, (_, problem))| (name.clone(), problem.clone())).collect(),
        )
    }

    /// The first names that a request could use, as the end of a message: ` (loaded: support, tone)`; empty if
    /// there are none.
    pub(crate) fn loaded_names(&self) -> String {
        let known = self.known.read();
        let loaded = known.iter().filter(|(_, named)| !named.is_removed).map(|(name, _)| name);
        let names = list_first(loaded, MAX_NAMED);
        if names.is_empty() { names } else { format!(" (loaded: {names})") }
    }

    /// Reads the folder and takes over changes. A broken file leaves its previous version in use.
    ///
    /// # Errors
    /// When the folder can't be read; then nothing changes.
    pub(crate) fn refresh(&self) -> Result<Vec<LibraryChange>, String> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let FolderContent { files, unused } = FolderContent::read(folder)?;
        let mut changes = Vec::new();

        for (name, path) in &files {
            let Some(hash) = content_hash(path) else {
                changes.extend(self.refuse_unreadable(name, path));
                continue;
            };
            if self.knows(name, hash) {
                continue;
            }

            changes.push(self.take(name, path, hash, LibraryContent::load(path, &self.options)));
        }

        changes.extend(self.refuse(&unused));
        changes.extend(self.forget_all_but(&files, &unused));
        Ok(changes)
    }

    /// Records a file that can't be read, unless its rubric is in use: then the file may be in the middle of
    /// being replaced.
    fn refuse_unreadable(&self, name: &str, path: &Path) -> Option<LibraryChange> {
        if self.find(name, None).is_ok() {
            return None;
        }

        let problem = LibraryContent::load(path, &self.options).err()?;
        let hash = blake3::hash(problem.as_bytes());
        (!self.knows(name, hash)).then(|| self.take(name, path, hash, Err(problem)))
    }

    /// Records the files that no rubric is read from.
    fn refuse(&self, unused: &BTreeMap<String, (PathBuf, String)>) -> Vec<LibraryChange> {
        let mut unusable = self.unusable.write();
        let mut changes = Vec::new();
        for (name, (path, problem)) in unused {
            let hash = blake3::hash(problem.as_bytes());
            let earlier = unusable.insert(name.clone(), (hash, problem.clone()));
            if earlier.is_none_or(|(known, _)| known != hash) {
                let (path, problem) = (path.clone(), problem.clone());
                changes.push(LibraryChange::Broken { path, problem, in_use: None });
            }
        }

        changes
    }

    fn knows(&self, name: &str, hash: blake3::Hash) -> bool {
        let known = self.known.read();
        let unusable = self.unusable.read();
        match known.get(name).filter(|named| !named.is_removed) {
            Some(named) => match &named.broken {
                Some((broken, _)) => *broken == hash,
                None => named.versions.first().is_some_and(|version| version.hash == hash),
            },
            None => unusable.get(name).is_some_and(|(broken, _)| *broken == hash),
        }
    }

    fn take(
        &self,
        name: &str,
        path: &Path,
        hash: blake3::Hash,
        loaded: Result<LibraryContent, String>,
    ) -> LibraryChange {
        let mut known = self.known.write();
        let mut unusable = self.unusable.write();
        let content = match loaded {
            Ok(content) => content,
            Err(problem) => {
                let in_use = if let Some(named) = known.get_mut(name).filter(|named| !named.is_removed) {
                    named.broken = Some((hash, problem.clone()));
                    named.versions.first().map(|version| version.hash.to_hex().to_string())
                } else {
                    unusable.insert(name.to_owned(), (hash, problem.clone()));
                    None
                };
                return LibraryChange::Broken { path: path.to_owned(), problem, in_use };
            }
        };

        unusable.remove(name);
        let version = RubricVersion { hash, content };
        let named = known.entry(name.to_owned()).or_default();
        named.broken = None;
        named.is_removed = false;
        named.versions.retain(|known| known.hash != hash);
        named.versions.insert(0, version);
        named.versions.truncate(MAX_VERSIONS);
        LibraryChange::Loaded { name: name.to_owned(), hash: hash.to_hex().to_string() }
    }

    /// Marks rubrics whose files are gone. Clients that name a hash can still use them.
    fn forget_all_but(
        &self,
        files: &BTreeMap<String, PathBuf>,
        unused: &BTreeMap<String, (PathBuf, String)>,
    ) -> Vec<LibraryChange> {
        let mut known = self.known.write();
        let mut unusable = self.unusable.write();
        unusable.retain(|name, _| files.contains_key(name) || unused.contains_key(name));

        let mut changes = Vec::new();
        let mut kept = 0;
        known.retain(|name, named| {
            if files.contains_key(name) {
                return true;
            }
            if !named.is_removed {
                (named.is_removed, named.broken) = (true, None);
                changes.push(LibraryChange::Removed { name: name.clone() });
            }
            kept += 1;
            kept <= MAX_REMOVED
        });

        changes
    }
}

/// Why a named rubric is not found.
#[derive(Debug)]
pub(crate) enum RubricMissing {
    /// No rubric has this name.
    Name,
    /// No remembered version has this hash. Holds the hash of the newest version, unless its file is gone.
    Hash(Option<String>),
}

/// Files of a rubric folder, by name. A requested name is only looked up here and never turned into a path.
#[derive(Default)]
struct FolderContent {
    files: BTreeMap<String, PathBuf>,
    /// Files and folders that look like rubrics but are not used, with the reason.
    unused: BTreeMap<String, (PathBuf, String)>,
}

impl FolderContent {
    fn read(folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("can't read the folder `{}`: {error}", folder.display());
        let entries = std::fs::read_dir(folder).map_err(failed)?.take(MAX_FILES);
        let mut paths =
            entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<_>, String>>()?;
        // If several files share a name, always the same one wins.
        paths.sort_by_key(|path| (ENDINGS.iter().position(|ending| has_ending(path, ending)), path.clone()));

        let mut content = Self::default();
        for path in paths {
            content.add(path);
        }

        Ok(content)
    }

    fn add(&mut self, path: PathBuf) {
        let is_folder = path.is_dir();
        let name = if is_folder { path.file_name() } else { path.file_stem() };
        let whole = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let Some(name) = name.and_then(|name| name.to_str()).filter(|name| !name.starts_with('.')) else {
            return;
        };

        if is_folder && !is_scorecard(&path) {
            if holds_rubrics(&path) {
                let problem = "folders in the folder of rubrics are not read, unless they are scorecards; move its \
                               files up";
                self.unused.insert(format!("{whole}/"), (path, problem.to_owned()));
            }
            return;
        }
        let is_file = is_rubric_file(&path) && path.is_file();
        if !is_folder && !is_file {
            return;
        }

        match self.files.get(name) {
            None => drop(self.files.insert(name.to_owned(), path)),
            Some(other) => {
                let other = other.file_name().unwrap_or_default().to_string_lossy();
                let problem = format!("`{other}` already has the name `{name}`; rename one of them");
                self.unused.insert(whole, (path, problem));
            }
        }
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

fn is_rubric_file(path: &Path) -> bool {
    ENDINGS.iter().any(|ending| has_ending(path, ending))
}

/// True if a folder contains files that would be rubrics one level up.
fn holds_rubrics(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MAX_FILES);
    entries.flatten().any(|entry| is_rubric_file(&entry.path()))
}

/// Hash of a file, or of the names and contents of all files of a folder; `None` if something can't be read
/// now.
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

/// Adds the files below a folder that can be part of a scorecard. Links to folders are not followed.
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
        assert_eq!(library.loaded_names(), " (loaded: support)");
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
        assert!(library.refresh().unwrap().is_empty(), "it is told once");
        assert_eq!(
            library.find("support", Some(&hash)).unwrap().hash,
            first.hash,
            "who named a hash keeps it"
        );
        assert!(matches!(library.find("support", Some("0")), Err(RubricMissing::Hash(None))));
        assert!(library.list().0.is_empty());
        for name in ["support", "../support", "/etc/passwd", "support.yaml", ""] {
            assert!(matches!(library.find(name, None), Err(RubricMissing::Name)), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_told_once_and_taken_when_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.yaml");
        std::fs::File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let library = RubricLibrary::new(Some(folder.path().to_owned()), LoadOptions::new(folder.path()));

        assert!(matches!(&library.refresh().unwrap()[..], [LibraryChange::Broken { in_use: None, .. }]));
        assert!(library.refresh().unwrap().is_empty(), "it is told once");
        assert_eq!(library.list().1.keys().collect::<Vec<_>>(), ["large"]);

        std::fs::write(&path, "- Says hello\n").unwrap();
        assert!(matches!(&library.refresh().unwrap()[..], [LibraryChange::Loaded { .. }]));
        assert!(library.list().1.is_empty());
    }

    #[test]
    fn files_that_share_a_name_and_folders_are_told_once_and_the_same_file_wins() {
        let folder = tempfile::tempdir().unwrap();
        for (file, criterion) in [("dup.json", "json"), ("dup.yml", "yml"), ("dup.yaml", "yaml")] {
            std::fs::write(folder.path().join(file), format!("[\"{criterion}\"]")).unwrap();
        }
        std::fs::create_dir_all(folder.path().join("more")).unwrap();
        std::fs::write(folder.path().join("more/deep.yaml"), "- deep\n").unwrap();
        std::fs::create_dir_all(folder.path().join("notes")).unwrap();

        let library = RubricLibrary::new(Some(folder.path().to_owned()), LoadOptions::new(folder.path()));
        let changes = library.refresh().unwrap();
        assert_eq!(changes.len(), 4, "{changes:?}");
        let (listed, unusable) = library.list();
        let winner = blake3::hash(b"[\"yaml\"]").to_hex().to_string();
        assert_eq!((listed[0].name.as_str(), &listed[0].hash, listed.len()), ("dup", &winner, 1));
        assert_eq!(unusable.keys().collect::<Vec<_>>(), ["dup.json", "dup.yml", "more/"]);
        assert!(unusable["dup.yml"].contains("`dup.yaml`"), "{unusable:?}");
        assert!(library.refresh().unwrap().is_empty(), "it is told once");

        std::fs::remove_file(folder.path().join("dup.yml")).unwrap();
        library.refresh().unwrap();
        assert_eq!(library.list().1.keys().collect::<Vec<_>>(), ["dup.json", "more/"]);
    }
}
