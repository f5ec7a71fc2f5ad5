//! State of a workspace at one point in time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Limits;
use crate::changes::{FileChanges, compare};
use crate::ignored::Ignored;
use crate::walk::{Entry, Found, WorkspaceError, walk};

/// State of a workspace at one point in time. Texts are stored outside of it, by hash, and are removed when
/// the snapshot is dropped.
#[derive(Debug)]
pub struct Snapshot {
    root: PathBuf,
    limits: Limits,
    entries: BTreeMap<PathBuf, Entry>,
    ignored: Ignored,
    texts: tempfile::TempDir,
}

impl Snapshot {
    /// Reads everything below `root`, and stores its texts in a folder in `scratch`. The contents of `.git`
    /// folders are excluded.
    pub fn take(root: &Path, limits: Limits, scratch: &Path) -> Result<Self, WorkspaceError> {
        let texts =
            tempfile::Builder::new().prefix("before-").tempdir_in(scratch).map_err(WorkspaceError::Keep)?;
        let mut entries = BTreeMap::new();
        walk(root, limits, |Found { path, entry, content }| {
            if let (Entry::File { hash, .. }, Some(content)) = (&entry, content) {
                let kept = texts.path().join(hash.to_hex().as_str());
                if !kept.exists() {
                    fs::write(kept, content).map_err(WorkspaceError::Keep)?;
                }
            }
            entries.insert(path, entry);
            Ok(())
        })?;
        Ok(Self { root: root.to_path_buf(), limits, entries, ignored: Ignored::read(root), texts })
    }

    /// Returns the changes in the workspace since the snapshot.
    pub fn changes(&self) -> Result<FileChanges, WorkspaceError> {
        let mut now = BTreeMap::new();
        walk(&self.root, self.limits, |found| {
            let before = self.entries.get(&found.path);
            let same = before == Some(&found.entry);
            // Texts of unchanged files are not needed; those of changed ones are read again for the diff.
            now.insert(found.path, if same { None } else { Some(found.entry) });
            Ok(())
        })?;
        Ok(compare(&self.entries, &now, self))
    }

    /// Returns the outermost path that contains this one and is excluded by `.gitignore` files.
    pub(crate) fn excluded(&self, path: &Path) -> Option<PathBuf> {
        self.ignored.covers(path, false)
    }

    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the text of a file at the time of the snapshot.
    pub(crate) fn text_before(&self, hash: &blake3::Hash) -> Option<String> {
        fs::read_to_string(self.texts.path().join(hash.to_hex().as_str())).ok()
    }

    /// Returns the current text of a file, if it still has the recorded hash.
    pub(crate) fn text_now(&self, path: &Path, hash: &blake3::Hash) -> Option<String> {
        let text = fs::read(self.root.join(path)).ok()?;
        (blake3::hash(&text) == *hash).then(|| String::from_utf8(text).ok())?
    }
}
