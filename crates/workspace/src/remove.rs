//! Removes the contents of a folder, even if an agent changed the permissions.

use std::fs::Permissions;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;

use crate::folder_handle::{FolderHandle, path_or_dot, sorted_names};

/// Maximum number of attempts to remove a folder that may still be written into.
const MAX_ATTEMPTS: usize = 5;

/// Removes a file, a link or a folder in `folder`. A missing path is not an error; links are never followed.
pub(crate) fn remove_entry(folder: &FolderHandle, path: &Path) -> io::Result<()> {
    let dir = folder.dir();
    let mut last = Ok(());
    for _ in 0..MAX_ATTEMPTS {
        last = match dir.symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => dir.remove_dir_all(path),
            Ok(_) => dir.remove_file(path),
        };

        if last.is_ok() {
            return Ok(());
        }

        grant_access_below(dir, path);
    }

    last
}

/// Removes the contents of a folder.
pub(crate) fn clear_contents(folder: &FolderHandle) -> io::Result<()> {
    grant_access(folder);

    for name in sorted_names(folder.dir(), Path::new(""))? {
        remove_entry(folder, Path::new(&name))?;
    }

    Ok(())
}

/// Gives this user access to a folder and all folders below it. A folder that can't be entered can't be
/// emptied.
pub(crate) fn grant_access(folder: &FolderHandle) {
    // Names in a folder can't be used until the folder itself can be entered.
    if let Ok(opened) = folder.dir().try_clone().map(Dir::into_std_file)
        && let Ok(found) = opened.metadata()
        && let Some(permissions) = with_access(found.permissions())
    {
        // The permissions of another user's folder can't be changed; removing it reports the error.
        drop(opened.set_permissions(permissions));
    }

    grant_access_below(folder.dir(), Path::new(""));
}

fn grant_access_below(dir: &Dir, path: &Path) {
    let mut open = vec![path.to_path_buf()];
    while let Some(folder) = open.pop() {
        let place = path_or_dot(&folder);
        let Ok(found) = dir.symlink_metadata(place) else { continue };
        if !found.is_dir() {
            continue;
        }

        #[cfg(unix)]
        if let Some(permissions) = with_access(unix_permissions(&found)) {
            drop(dir.set_permissions(place, cap_std::fs::Permissions::from_std(permissions)));
        }

        let entries = dir.read_dir(place).into_iter().flatten().filter_map(Result::ok);
        open.extend(entries.map(|entry| folder.join(entry.file_name())));
    }
}

#[cfg(unix)]
fn unix_permissions(found: &cap_std::fs::Metadata) -> Permissions {
    use cap_std::fs::PermissionsExt as _;
    use std::os::unix::fs::PermissionsExt as _;

    Permissions::from_mode(found.permissions().mode())
}

/// Permissions with which this user may read, change and enter a folder; `None` if the present ones suffice.
#[cfg(unix)]
fn with_access(found: Permissions) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let mode = found.mode();
    (mode & 0o700 != 0o700).then(|| Permissions::from_mode(mode | 0o700))
}

#[cfg(not(unix))]
fn with_access(mut found: Permissions) -> Option<Permissions> {
    let readonly = found.readonly();
    found.set_readonly(false);
    readonly.then_some(found)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::folder_handle::open_file;

    #[test]
    fn nothing_outside_is_reached_through_links_inside() {
        let temp = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(temp.path().join("docs")).expect("made");
        fs::write(temp.path().join("docs/thesis"), "text").expect("written");
        let folder = FolderHandle::open(temp.path()).expect("opened").create_folder("in").expect("created");
        let path = temp.path().join("in");
        symlink(temp.path().join("docs"), path.join("absolute")).expect("linked");
        symlink("../docs", path.join("relative")).expect("linked");
        symlink("../docs/thesis", path.join("file")).expect("linked");

        for inner in ["absolute", "relative"] {
            let thesis = Path::new(inner).join("thesis");
            assert!(open_file(folder.dir(), &thesis).is_err());
            assert!(sorted_names(folder.dir(), Path::new(inner)).is_err());
            assert!(remove_entry(&folder, &thesis).is_err() || temp.path().join("docs/thesis").exists());
        }
        assert!(open_file(folder.dir(), Path::new("file")).is_err());

        clear_contents(&folder).expect("cleared");
        assert_eq!(fs::read_dir(&path).expect("there").count(), 0);
        assert_eq!(fs::read_to_string(temp.path().join("docs/thesis")).expect("there"), "text");
    }
}
