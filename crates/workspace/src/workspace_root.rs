//! Root folder for the workspaces of one process, and removal of those that dead processes left.
//!
//! Each process has its own folder among the temporary files, containing a file that the process keeps
//! locked. The system releases the lock however the process ends; so a folder with a free lock is unused.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::remove::remove;

/// Prefix of the names of such folders.
const PREFIX: &str = "assize-ws-";
/// Prefix of their names until the lock is held.
const NEW_PREFIX: &str = "assize-new-";
/// Prefix of the names of folders that the user keeps.
const KEPT_PREFIX: &str = "assize-kept-";
const LOCK_FILE: &str = "lock";
/// Maximum number of attempts to create a folder while others clean up.
const MAX_ATTEMPTS: usize = 10;
/// Maximum length of the readable part of a workspace's name.
const MAX_READABLE_NAME: usize = 40;

/// Root folder of this process. Its contents are removed when it is closed or dropped.
#[derive(Debug)]
pub(crate) struct WorkspaceRoot {
    folder: PathBuf,
    /// Held while the folder is in use; `None` for a folder that is kept.
    lock: Option<File>,
    open: Arc<AtomicBool>,
    count: AtomicU64,
}

impl WorkspaceRoot {
    /// Creates the folder inside `temp`. With `keep`, workspaces are kept when it is closed.
    pub(crate) fn create(temp: &Path, keep: bool) -> io::Result<Self> {
        let with = |folder: PathBuf, lock| {
            let folder = folder.canonicalize()?;
            Ok(Self { folder, lock, open: Arc::new(AtomicBool::new(true)), count: AtomicU64::new(0) })
        };
        if keep {
            return with(private_folder_builder(KEPT_PREFIX).tempdir_in(temp)?.keep(), None);
        }

        let mut last = io::Error::other("no attempt was made");
        for _ in 0..MAX_ATTEMPTS {
            let new = private_folder_builder(NEW_PREFIX).tempdir_in(temp)?;
            match lock_and_rename(new.path()) {
                Ok((folder, lock)) => {
                    // The folder has another name by now, so nothing is removed.
                    drop(new.keep());
                    return with(folder, Some(lock));
                }
                // Another process may have taken it for an abandoned one.
                Err(error) => last = error,
            }
        }

        Err(last)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns the flag that is true while the folder is in use; long operations stop early when it is
    /// cleared.
    pub(crate) fn in_use(&self) -> &AtomicBool {
        &self.open
    }

    /// Returns a new path for something called `name`, which may contain any characters.
    pub(crate) fn new_path(&self, name: &str) -> PathBuf {
        let readable: String = name
            .chars()
            .take(MAX_READABLE_NAME)
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
            .collect();
        self.folder.join(format!("{readable}-{}", self.count.fetch_add(1, Ordering::Relaxed)))
    }

    /// Removes everything. Returns the folder instead if it is kept.
    pub(crate) fn close(&self) -> Option<PathBuf> {
        self.open.store(false, Ordering::Relaxed);

        if self.lock.is_none() {
            return Some(self.folder.clone());
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

/// Returns a builder of folders that other users of the machine can't read.
fn private_folder_builder(prefix: &'static str) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }

    builder
}

/// Locks a new folder and renames it to the prefix under which others find it.
fn lock_and_rename(new: &Path) -> io::Result<(PathBuf, File)> {
    let lock = File::create(new.join(LOCK_FILE))?;
    lock.try_lock().map_err(io::Error::from)?;

    let name = new.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(NEW_PREFIX));
    let name =
        name.ok_or_else(|| io::Error::other("the name of a temporary folder is not what was asked for"))?;
    let folder = new.with_file_name(format!("{PREFIX}{name}"));
    fs::rename(new, &folder)?;

    Ok((folder, lock))
}

/// Removes a folder, its lock file last: until then nobody else touches it. Remains are removed at the next
/// start.
fn clear_folder(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name() != LOCK_FILE {
            drop(remove(&entry.path()));
        }
    }
    if fs::read_dir(folder).is_ok_and(|left| left.count() <= 1) {
        drop(remove(folder));
    }
}

/// Removes the workspaces that dead processes of this user left in `temp`, and returns their number.
pub fn remove_abandoned(temp: &Path) -> usize {
    let mut found = 0;
    for entry in fs::read_dir(temp).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = entry.path();
        let is_new = name.starts_with(NEW_PREFIX);
        if !(is_new || name.starts_with(PREFIX)) || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }

        let lock = path.join(LOCK_FILE);
        let abandoned = match fs::symlink_metadata(&lock) {
            // The removal was interrupted at the very end; a folder that is being created has no lock file
            // yet either.
            Err(error) => error.kind() == io::ErrorKind::NotFound && !is_new,
            // Folders of other users can't be opened this way.
            Ok(metadata) if metadata.is_file() => match File::options().write(true).open(&lock) {
                Ok(file) => match file.try_lock() {
                    Ok(()) => {
                        clear_folder(&path);
                        found += 1;
                        continue;
                    }
                    Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
                },
                Err(_) => false,
            },
            Ok(_) => false,
        };
        if abandoned {
            clear_folder(&path);
            found += 1;
        }
    }

    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_stays_and_what_is_left_goes() {
        let temp = tempfile::tempdir().expect("a folder");
        let count = || fs::read_dir(temp.path()).expect("readable").count();
        let depot = WorkspaceRoot::create(temp.path(), false).expect("opened");
        let place = depot.new_path("a/../b c");
        assert_eq!(place.parent(), Some(depot.path()));
        fs::create_dir(&place).expect("made");
        // As a process leaves it that was killed: the folder with a lock that nobody holds.
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

    #[test]
    fn kept_workspaces_are_nobody_elses_to_remove() {
        let temp = tempfile::tempdir().expect("a folder");
        let depot = WorkspaceRoot::create(temp.path(), true).expect("opened");
        let place = depot.new_path("case");
        fs::create_dir(&place).expect("made");
        assert!(depot.close().is_some_and(|folder| place.starts_with(folder)));
        drop(depot);
        assert_eq!(remove_abandoned(temp.path()), 0);
        assert!(place.is_dir());
    }
}
