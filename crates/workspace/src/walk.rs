//! Walks the files of a folder without following links out of it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};

use crate::SnapshotLimits;
use crate::folder_handle::{FolderHandle, open_file, sorted_names};

/// Why a workspace can't be read.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The folder can't be read.
    #[error("the workspace `{path}` can't be read: {error}")]
    Unreadable {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The folder was replaced by another one.
    #[error("{0}")]
    Replaced(String),
    /// The earlier state can't be stored.
    #[error("the state of the workspace can't be kept: {0}")]
    StoreState(io::Error),
    /// There are too many files.
    #[error("the workspace `{path}` has more than {limit} files")]
    TooManyFiles {
        /// Path of the folder.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
}

/// Entry of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkspaceEntry {
    File {
        hash: blake3::Hash,
        size: u64,
        executable: bool,
        is_text: bool,
    },
    Link {
        to: PathBuf,
    },
    /// Neither a file nor a link, or unreadable. It is listed, but never opened.
    Other {
        why: String,
    },
}

/// An entry with its path relative to the workspace. `content` is its text, if it is stored.
pub(crate) struct WalkedEntry {
    pub(crate) path: PathBuf,
    pub(crate) entry: WorkspaceEntry,
    pub(crate) content: Option<Vec<u8>>,
}

/// Visits everything below `root` except the contents of `.git` folders, in the order of paths.
pub(crate) fn walk(
    root: &FolderHandle,
    limits: SnapshotLimits,
    mut visit: impl FnMut(WalkedEntry) -> Result<(), WalkError>,
) -> Result<(), WalkError> {
    let dir = root.dir();
    let unreadable = |error| WalkError::Unreadable { path: root.path().to_path_buf(), error };
    check_folder(root)?;

    let below = |folder: &Path, names: Vec<OsString>| -> std::vec::IntoIter<PathBuf> {
        names.into_iter().map(|name| folder.join(name)).collect::<Vec<_>>().into_iter()
    };
    let mut open = vec![below(Path::new(""), sorted_names(dir, Path::new("")).map_err(unreadable)?)];
    let mut count = 0;
    while let Some(level) = open.last_mut() {
        let Some(path) = level.next() else {
            open.pop();
            continue;
        };
        let Ok(metadata) = dir.symlink_metadata(&path) else { continue };

        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }

        if metadata.is_dir() {
            match sorted_names(dir, &path) {
                Ok(names) => open.push(below(&path, names)),
                Err(error) => visit(other_entry(path, format!("the folder can't be read: {error}")))?,
            }
            continue;
        }

        count += 1;

        if count > limits.max_files {
            return Err(WalkError::TooManyFiles { path: root.path().to_path_buf(), limit: limits.max_files });
        }

        visit(read_entry(dir, path, &metadata, limits))?;
    }

    // The data that was read may belong to a folder that has been replaced since, and so to no case.
    check_folder(root)
}

fn check_folder(root: &FolderHandle) -> Result<(), WalkError> {
    root.check().map_err(|error| WalkError::Replaced(error.message))
}

fn other_entry(path: PathBuf, why: String) -> WalkedEntry {
    WalkedEntry { path, entry: WorkspaceEntry::Other { why }, content: None }
}

fn read_entry(dir: &Dir, path: PathBuf, metadata: &Metadata, limits: SnapshotLimits) -> WalkedEntry {
    if metadata.is_symlink() {
        return match dir.read_link_contents(&path) {
            Ok(to) => WalkedEntry { path, entry: WorkspaceEntry::Link { to }, content: None },
            Err(error) => other_entry(path, format!("the link can't be read: {error}")),
        };
    }

    if !metadata.is_file() {
        return other_entry(path, "not a regular file".to_owned());
    }

    match read_contents(dir, &path, limits.max_text) {
        Ok(HashedFile { hash, size, content }) => {
            let content = content.filter(|bytes| is_text(bytes));
            let entry = WorkspaceEntry::File {
                hash,
                size,
                executable: executable(metadata),
                is_text: content.is_some(),
            };
            WalkedEntry { path, entry, content }
        }
        Err(error) => other_entry(path, format!("the file can't be read: {error}")),
    }
}

struct HashedFile {
    hash: blake3::Hash,
    size: u64,
    /// The whole content, unless it is larger than the limit.
    content: Option<Vec<u8>>,
}

fn read_contents(dir: &Dir, path: &Path, keep: u64) -> io::Result<HashedFile> {
    let mut file = open_file(dir, path)?;
    let mut content = Vec::new();
    file.by_ref().take(keep + 1).read_to_end(&mut content)?;

    let mut hasher = blake3::Hasher::new();
    hasher.update(&content);

    let mut size = content.len() as u64;
    let whole = size <= keep;
    if !whole {
        size = hasher.update_reader(file)?.count();
    }

    Ok(HashedFile { hash: hasher.finalize(), size, content: whole.then_some(content) })
}

/// Returns true for UTF-8 without NUL characters.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(unix)]
fn executable(metadata: &Metadata) -> bool {
    use cap_std::fs::PermissionsExt;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_metadata: &Metadata) -> bool {
    false
}
