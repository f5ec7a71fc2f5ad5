//! Named rubrics: the files of a folder, read again when they change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use assize_evalfile::{LoadOptions, LoadedRubric, load_rubric};

use crate::api::RubricListing;

/// Versions of a rubric that are remembered, the newest included: a training run that names a hash is not disturbed by an edit.
const MAX_VERSIONS: usize = 8;
/// Files of a folder that are looked at.
const MAX_FILES: usize = 10_000;
/// Largest rubric file.
const MAX_BYTES: u64 = 4 << 20;

/// A version of a rubric.
#[derive(Clone)]
pub(crate) struct RubricVersion {
    pub(crate) hash: blake3::Hash,
    pub(crate) rubric: Arc<LoadedRubric>,
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
                criteria: newest.rubric.rubric.as_ref().map_or(0, |rubric| rubric.rubric.criteria().len()),
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
            let Ok(bytes) = assize_files::read_bytes(path, MAX_BYTES) else { continue };
            let hash = blake3::hash(&bytes);
            if self.knows(name, hash) {
                continue;
            }

            let loaded = load_rubric(path, &self.options);
            changes.push(self.take(name, hash, loaded));
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

    fn take(&self, name: &str, hash: blake3::Hash, loaded: LoadedRubric) -> LibraryChange {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut unusable = self.unusable.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.rubric.is_none() {
            let problem = first_error(&loaded);
            match known.get_mut(name) {
                Some(named) => named.broken = Some((hash, problem.clone())),
                None => drop(unusable.insert(name.to_owned(), (hash, problem.clone()))),
            }
            return LibraryChange::Broken { name: name.to_owned(), problem };
        }

        unusable.remove(name);
        let version = RubricVersion { hash, rubric: Arc::new(loaded) };
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

/// The rubric files of a folder by name. A name is looked up among these and never made into a path.
fn rubric_files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let failed = |error: std::io::Error| format!("can't read the folder `{}`: {error}", folder.display());
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)?.take(MAX_FILES) {
        let path = entry.map_err(failed)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !matches!(ending, "yaml" | "yml" | "json") || !path.is_file() {
            continue;
        }
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if !name.starts_with('.') {
            files.entry(name.to_owned()).or_insert(path);
        }
    }

    Ok(files)
}

fn first_error(loaded: &LoadedRubric) -> String {
    let errors =
        loaded.diagnostics.iter().filter(|found| found.severity == assize_diagnostic::Severity::Error);
    let mut messages = errors.map(|found| {
        let at = loaded.sources.position(found.primary.span);
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
