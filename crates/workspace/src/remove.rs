//! Removal of a folder with its contents, whatever an agent did to the permissions.

use std::fs;
use std::io;
use std::path::Path;

/// Maximum number of attempts to remove a folder that may still be written into.
const MAX_ATTEMPTS: usize = 5;

/// Removes a file, a link or a folder. A missing path is not an error; links are never followed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..MAX_ATTEMPTS {
        last = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
        };

        if last.is_ok() {
            return Ok(());
        }

        grant_access(path);
    }

    last
}

/// Grants this user access to every folder below: a folder that can't be entered can't be emptied.
pub(crate) fn grant_access(path: &Path) {
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
            // A folder of another user stays as it is; its removal reports the error.
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
