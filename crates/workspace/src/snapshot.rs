//! State of a workspace at one point in time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::SnapshotLimits;
use crate::ignore_rules::IgnoreRules;
use crate::walk::{WalkError, WalkedEntry, WorkspaceEntry, walk};

/// State of a workspace at one point in time. Texts are stored outside of it, by hash, and are removed when
/// the snapshot is dropped.
#[derive(Debug)]
pub struct WorkspaceSnapshot {
    pub(crate) root: PathBuf,
    limits: SnapshotLimits,
    pub(crate) entries: BTreeMap<PathBuf, WorkspaceEntry>,
    ignored: IgnoreRules,
    texts: tempfile::TempDir,
}

impl WorkspaceSnapshot {
    /// Reads everything below `root`, and stores its texts in a folder in `scratch`. The contents of `.git`
    /// folders are excluded.
    pub fn take(root: &Path, limits: SnapshotLimits, scratch: &Path) -> Result<Self, WalkError> {
        let texts =
            tempfile::Builder::new().prefix("before-").tempdir_in(scratch).map_err(WalkError::StoreState)?;
        let mut entries = BTreeMap::new();
        walk(root, limits, |WalkedEntry { path, entry, content }| {
            if let (WorkspaceEntry::File { hash, .. }, Some(content)) = (&entry, content) {
                let kept = texts.path().join(hash.to_hex().as_str());
                if !kept.exists() {
                    fs::write(kept, content).map_err(WalkError::StoreState)?;
                }
            }

            entries.insert(path, entry);
            Ok(())
        })?;

        Ok(Self { root: root.to_path_buf(), limits, entries, ignored: IgnoreRules::read(root), texts })
    }

    /// Returns the outermost path that contains this one and is excluded by `.gitignore` files.
    pub(crate) fn find_excluded(&self, path: &Path) -> Option<PathBuf> {
        self.ignored.find_excluded(path, false)
    }

    pub(crate) const fn limits(&self) -> SnapshotLimits {
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
