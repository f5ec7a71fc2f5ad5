//! The state of a workspace at one point in time.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::SnapshotLimits;
use crate::folder_handle::{FolderHandle, open_file};
use crate::ignore_rules::IgnoreRules;
use crate::walk::{WalkError, WalkedEntry, WorkspaceEntry, walk};

/// The state of a workspace at one point in time. Texts are stored outside the workspace, by hash, and are
/// removed when the snapshot is dropped.
#[derive(Debug)]
pub struct WorkspaceSnapshot {
    pub(crate) root: Arc<FolderHandle>,
    pub(crate) limits: SnapshotLimits,
    pub(crate) entries: BTreeMap<PathBuf, WorkspaceEntry>,
    pub(crate) ignored: IgnoreRules,
    texts: FolderHandle,
    /// Removes the folder of the texts on drop.
    _scratch: tempfile::TempDir,
}

impl WorkspaceSnapshot {
    /// Reads everything below `root`, and stores its texts in a folder in `scratch`. The contents of `.git`
    /// folders are excluded.
    pub fn take(root: &Path, limits: SnapshotLimits, scratch: &Path) -> Result<Self, WalkError> {
        let opened = FolderHandle::open(root)
            .map_err(|error| WalkError::Unreadable { path: root.to_path_buf(), error })?;
        Self::take_folder(Arc::new(opened), limits, scratch)
    }

    /// Like [`Self::take`], for an open folder.
    pub(crate) fn take_folder(
        root: Arc<FolderHandle>,
        limits: SnapshotLimits,
        scratch: &Path,
    ) -> Result<Self, WalkError> {
        let scratch =
            tempfile::Builder::new().prefix("before-").tempdir_in(scratch).map_err(WalkError::StoreState)?;
        let texts = FolderHandle::open(scratch.path()).map_err(WalkError::StoreState)?;
        let mut entries = BTreeMap::new();
        walk(&root, limits, |WalkedEntry { path, entry, content }| {
            if let (WorkspaceEntry::File { hash, .. }, Some(content)) = (&entry, content) {
                let kept = hash.to_hex();
                if !texts.dir().exists(kept.as_str()) {
                    texts.dir().write(kept.as_str(), content).map_err(WalkError::StoreState)?;
                }
            }

            entries.insert(path, entry);
            Ok(())
        })?;

        let ignored = IgnoreRules::read(root.dir());
        Ok(Self { root, limits, entries, ignored, texts, _scratch: scratch })
    }

    /// The text of a file at the time of the snapshot.
    pub(crate) fn text_before(&self, hash: &blake3::Hash) -> Option<String> {
        read_text(&self.texts, Path::new(hash.to_hex().as_str()), hash)
    }

    /// The current text of a file, if it still has the recorded hash.
    pub(crate) fn text_now(&self, path: &Path, hash: &blake3::Hash) -> Option<String> {
        read_text(&self.root, path, hash)
    }
}

fn read_text(folder: &FolderHandle, path: &Path, hash: &blake3::Hash) -> Option<String> {
    let mut text = Vec::new();
    open_file(folder.dir(), path).ok()?.read_to_end(&mut text).ok()?;
    (blake3::hash(&text) == *hash).then(|| String::from_utf8(text).ok())?
}
