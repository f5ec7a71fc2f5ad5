//! The root folder for the workspaces of one process, and removal of the folders that dead processes left.
//!
//! Each process has its own folder among the temporary files, with a file in it that the process keeps locked. The
//! system releases the lock when the process ends, also if it is killed, so a folder whose lock is free is unused.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assize_process::{private_folder, readable_name};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::OpenOptions;

use crate::folder_handle::{FolderHandle, sorted_names};
use crate::remove::{clear_contents, remove_entry};

/// Prefix of the names of such folders.
const PREFIX: &str = "assize-ws-";
/// Prefix of their names until they are locked.
const NEW_PREFIX: &str = "assize-new-";
/// Prefix of the names of folders that the user keeps.
const KEPT_PREFIX: &str = "assize-kept-";
const LOCK_FILE: &str = "lock";
/// Maximum number of attempts to create a folder while other processes clean up.
const MAX_ATTEMPTS: usize = 10;

/// Root folder of this process. Its contents are removed when it is closed or dropped.
#[derive(Debug)]
pub(crate) struct WorkspaceRoot {
    folder: FolderHandle,
    /// Locked while the folder is in use; `None` for a folder that is kept.
    lock: Option<File>,
    /// True while the folder is in use. Long operations stop early when it becomes false.
    pub(crate) open: Arc<AtomicBool>,
    count: AtomicU64,
}

impl WorkspaceRoot {
    /// Creates the folder inside `temp`. With `keep`, workspaces are kept when it is closed.
    pub(crate) fn create(temp: &Path, keep: bool) -> io::Result<Self> {
        let with = |folder: PathBuf, lock| {
            let folder = FolderHandle::open(&folder)?;
            Ok(Self { folder, lock, open: Arc::new(AtomicBool::new(true)), count: AtomicU64::new(0) })
        };
        if keep {
            return with(private_folder(KEPT_PREFIX, temp)?.keep(), None);
        }

        let mut last = io::Error::other("no attempt was made");
        for _ in 0..MAX_ATTEMPTS {
            let new = private_folder(NEW_PREFIX, temp)?;
            match lock_and_rename(new.path()) {
                Ok((folder, lock)) => {
                    // The folder has been renamed, so dropping `new` would not remove it.
                    drop(new.keep());
                    return with(folder, Some(lock));
                }
                // Another process may have taken it for an abandoned folder.
                Err(error) => last = error,
            }
        }

        Err(last)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a folder for something named `name`, which may contain any characters.
    pub(crate) fn create_folder(&self, name: &str) -> io::Result<FolderHandle> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.folder.create_folder(&format!("{}-{number}", readable_name(name)))
    }

    /// Removes a folder that was created here. If it was replaced, neither the folder nor its replacement is removed.
    pub(crate) fn remove_folder(&self, folder: &FolderHandle) {
        if folder.check().is_err() {
            return;
        }

        // Anything left over is removed at the end, or by the next process.
        if let (Ok(()), Some(name)) = (clear_contents(folder), folder.path().file_name()) {
            drop(self.folder.dir().remove_dir(name));
        }
    }

    /// Removes everything. Returns the folder instead if it is kept.
    pub(crate) fn close(&self) -> Option<PathBuf> {
        self.open.store(false, Ordering::Relaxed);

        if self.lock.is_none() {
            return Some(self.path().to_path_buf());
        }

        clear_folder(&self.folder);
        None
    }
}

impl Drop for WorkspaceRoot {
    fn drop(&mut self) {
        self.close();
    }
}

/// Locks a new folder and renames it to the prefix that other processes look for.
fn lock_and_rename(new: &Path) -> io::Result<(PathBuf, File)> {
    let lock = File::create(new.join(LOCK_FILE))?;
    lock.try_lock().map_err(io::Error::from)?;

    let name = new.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(NEW_PREFIX));
    let name =
        name.ok_or_else(|| io::Error::other("the temporary folder does not have the requested name"))?;
    let folder = new.with_file_name(format!("{PREFIX}{name}"));
    fs::rename(new, &folder)?;

    Ok((folder, lock))
}

/// Removes a folder, with its lock file last: until then no other process touches it. Anything left over is
/// removed at the next start.
fn clear_folder(folder: &FolderHandle) {
    let names = || sorted_names(folder.dir(), Path::new("")).unwrap_or_default();
    for name in names() {
        if name != LOCK_FILE {
            drop(remove_entry(folder, Path::new(&name)));
        }
    }

    if names().iter().all(|name| name == LOCK_FILE) {
        drop(remove_entry(folder, Path::new(LOCK_FILE)));
        if folder.check().is_ok() {
            drop(fs::remove_dir(folder.path()));
        }
    }
}

/// Removes the workspaces that dead processes of this user left in `temp`, and returns their number.
pub fn remove_abandoned(temp: &Path) -> usize {
    let Ok(temp) = FolderHandle::open(temp) else { return 0 };
    let names = sorted_names(temp.dir(), Path::new("")).unwrap_or_default();
    names.iter().filter_map(|name| name.to_str()).filter(|name| remove_if_abandoned(&temp, name)).count()
}

/// Removes a folder in `temp` if it is the root of a dead process. The folder is opened only once, so that the checked
/// folder is the one that is removed.
fn remove_if_abandoned(temp: &FolderHandle, name: &str) -> bool {
    let is_new = name.starts_with(NEW_PREFIX);
    if !(is_new || name.starts_with(PREFIX)) {
        return false;
    }
    let Ok(folder) = temp.open_folder(name) else { return false };

    match folder.dir().symlink_metadata(LOCK_FILE) {
        // An earlier removal was interrupted at the very end. (A folder that is being created has no lock file
        // yet either, but it has another prefix.)
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_new => clear_folder(&folder),
        Ok(metadata) if metadata.is_file() => {
            let mut options = OpenOptions::new();
            options.write(true).follow(FollowSymlinks::No).nonblock(true);

            // Folders of other users can't be opened this way.
            let Ok(lock) = folder.dir().open_with(LOCK_FILE, &options) else { return false };
            let lock = lock.into_std();
            if let Err(TryLockError::WouldBlock | TryLockError::Error(_)) = lock.try_lock() {
                return false;
            }

            clear_folder(&folder);
        }
        _ => return false,
    }

    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_stays_and_what_is_left_goes() {
        let temp = tempfile::tempdir().expect("a folder");
        let count = || fs::read_dir(temp.path()).expect("readable").count();
        let depot = WorkspaceRoot::create(temp.path(), false).expect("opened");
        let folder = depot.create_folder("a/../b c").expect("made");
        let place = folder.path();
        assert_eq!(place.parent(), Some(depot.path()));
        // The state that a killed process leaves: the folder with an unlocked lock file.
        let left = temp.path().join(format!("{PREFIX}left"));
        fs::create_dir_all(left.join("w/deep")).expect("made");
        fs::write(left.join(LOCK_FILE), "").expect("written");
        fs::create_dir(temp.path().join(format!("{PREFIX}empty"))).expect("made");
        fs::create_dir(temp.path().join("other")).expect("made");
        assert_eq!(remove_abandoned(temp.path()), 2);
        assert!(place.is_dir());
        assert_eq!(count(), 2);
        assert_eq!(depot.close(), None);
        assert_eq!(count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_root_or_a_workspace_leads_to_nothing_that_is_removed() {
        use std::os::unix::fs::symlink;

        let temp = tempfile::tempdir().expect("a folder");
        let docs = temp.path().join("docs");
        fs::create_dir(&docs).expect("made");
        fs::write(docs.join("thesis"), "text").expect("written");
        symlink(&docs, temp.path().join(format!("{PREFIX}link"))).expect("linked");
        let root = WorkspaceRoot::create(temp.path(), false).expect("opened");
        let folder = root.create_folder("case").expect("made");
        fs::rename(folder.path(), root.path().join("moved")).expect("moved");
        symlink(&docs, folder.path()).expect("linked");

        root.remove_folder(&folder);
        assert_eq!(remove_abandoned(temp.path()), 0);

        // Replaces a folder above the workspaces.
        let moved = temp.path().join("moved");
        fs::rename(root.path(), &moved).expect("moved");
        symlink(&docs, root.path()).expect("linked");
        root.close();

        assert_eq!(fs::read_to_string(docs.join("thesis")).expect("there"), "text");
        assert_eq!(fs::read_dir(&docs).expect("there").count(), 1);
    }

    #[test]
    fn kept_workspaces_are_nobody_elses_to_remove() {
        let temp = tempfile::tempdir().expect("a folder");
        let depot = WorkspaceRoot::create(temp.path(), true).expect("opened");
        let place = depot.create_folder("case").expect("made").path().to_path_buf();
        assert!(depot.close().is_some_and(|folder| place.starts_with(folder)));
        drop(depot);
        assert_eq!(remove_abandoned(temp.path()), 0);
        assert!(place.is_dir());
    }
}
