//! Removing a folder with everything in it, whatever an agent did to its permissions.

use std::fs;
use std::io;
use std::path::Path;

/// Attempts at removing a folder that something may still be writing into.
const ATTEMPTS: usize = 5;

/// Removes a file, a link or a folder. What is not there is fine; links are never followed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..ATTEMPTS {
        last = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
        };
        if last.is_ok() {
            return Ok(());
        }
        open_up(path);
    }
    last
}

/// Lets this user into every folder below: what can't be entered can't be emptied.
pub(crate) fn open_up(path: &Path) {
    let mut open = vec![path.to_path_buf()];
    while let Some(folder) = open.pop() {
        if !fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
            continue;
        }
        enter(&folder);
        let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        open.extend(entries.map(|entry| entry.path()));
    }
}

#[cfg(unix)]
fn enter(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(found) = fs::symlink_metadata(folder) {
        let mode = found.permissions().mode();
        if mode & 0o700 != 0o700 {
            // A folder of somebody else stays as it is; removing it says so.
            drop(fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700)));
        }
    }
}

#[cfg(not(unix))]
fn enter(folder: &Path) {
    if let Ok(found) = fs::symlink_metadata(folder) {
        let mut permissions = found.permissions();
        permissions.set_readonly(false);
        drop(fs::set_permissions(folder, permissions));
    }
}
