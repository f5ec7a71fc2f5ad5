//! Restores a folder to its original state and verifies the result.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};

use crate::WorkspaceError;
use crate::copy::{copy_file, create_link};
use crate::folder_handle::{FolderHandle, open_file, sorted_names};
use crate::ignore_rules::IgnoreRules;
use crate::remove::{grant_access, remove_entry};

/// How many bytes are compared at a time.
const CHUNK: usize = 64 * 1024;

/// Makes `restored` equal to `pristine`, and verifies the result. `keep` selects paths that are not restored if
/// both folders, or only `restored`, have them.
pub(crate) fn restore_folder(
    pristine: &FolderHandle,
    restored: &FolderHandle,
    keep: Option<&IgnoreRules>,
) -> Result<(), WorkspaceError> {
    let failed = |error: io::Error| WorkspaceError::io("put back", restored.path(), &error);
    pristine.check()?;
    restored.check()?;
    grant_access(restored);
    compare_folders(pristine, restored, keep, true).map_err(failed)?;

    match compare_folders(pristine, restored, keep, false).map_err(failed)? {
        None => restored.check(),
        Some(path) => Err(WorkspaceError::new(
            "reset",
            format!("the workspace could not be reset: `{}` differs", path.display()),
        )),
    }
}

/// Compares both folders. Repairs the differences, or returns the first path that differs.
fn compare_folders(
    pristine: &FolderHandle,
    restored: &FolderHandle,
    keep: Option<&IgnoreRules>,
    repair: bool,
) -> io::Result<Option<PathBuf>> {
    let (original, copy) = (pristine.dir(), restored.dir());
    let mut levels = vec![PathBuf::new()];
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some(level) = levels.pop() {
        let wanted = names_or_none(original, &level)?;
        let found = names_or_none(copy, &level)?;
        for name in wanted.union(&found) {
            let path = level.join(name);
            let (old, new) = (metadata_if_exists(original, &path)?, metadata_if_exists(copy, &path)?);
            let is_dir = new.as_ref().is_some_and(Metadata::is_dir);
            let excluded = |keep: &IgnoreRules| keep.find_excluded(&path, is_dir).is_some();
            if new.is_some() && keep.is_some_and(excluded) {
                continue;
            }

            match (&old, keep) {
                (Some(old), _) if old.is_dir() && is_dir => {
                    folders.push(path.clone());
                    levels.push(path);
                }
                // A new folder may contain kept files.
                (None, Some(keep)) if is_dir => {
                    if let Some(path) = prune(restored, &path, keep, repair)? {
                        return Ok(Some(path));
                    }
                }
                _ if same_entry(&path, (original, old.as_ref()), (copy, new.as_ref()))? => {}
                _ if !repair => return Ok(Some(path)),
                (old, _) => {
                    remove_entry(restored, &path)?;
                    let Some(old) = old else { continue };
                    copy_entry(original, copy, &path, old)?;

                    if old.is_dir() {
                        folders.push(path.clone());
                        levels.push(path);
                    }
                }
            }
        }
    }

    // Deepest folders first: a folder that may not be written into could not be repaired afterwards.
    for path in folders.iter().rev().filter(|_| repair) {
        if let Some(old) = metadata_if_exists(original, path)? {
            copy.set_permissions(path, old.permissions())?;
        }
    }

    Ok(None)
}

/// Empties a new folder except for kept files, and removes it if there are none. Without `repair`, returns the
/// first path to remove.
fn prune(
    restored: &FolderHandle,
    folder: &Path,
    keep: &IgnoreRules,
    repair: bool,
) -> io::Result<Option<PathBuf>> {
    for name in sorted_names(restored.dir(), folder)? {
        let path = folder.join(name);
        let is_dir = metadata_if_exists(restored.dir(), &path)?.is_some_and(|found| found.is_dir());
        if keep.find_excluded(&path, is_dir).is_some() {
            continue;
        }

        if is_dir {
            if let Some(path) = prune(restored, &path, keep, repair)? {
                return Ok(Some(path));
            }
        } else if repair {
            remove_entry(restored, &path)?;
        } else {
            return Ok(Some(path));
        }
    }

    if !sorted_names(restored.dir(), folder)?.is_empty() {
        return Ok(None);
    }
    if !repair {
        return Ok(Some(folder.to_path_buf()));
    }

    remove_entry(restored, folder)?;
    Ok(None)
}

fn names_or_none(dir: &Dir, folder: &Path) -> io::Result<BTreeSet<std::ffi::OsString>> {
    match sorted_names(dir, folder) {
        Ok(names) => Ok(names.into_iter().collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

fn metadata_if_exists(dir: &Dir, path: &Path) -> io::Result<Option<Metadata>> {
    match dir.symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns true if both are files with equal contents and permissions, or links with equal targets.
fn same_entry(
    path: &Path,
    (original, old): (&Dir, Option<&Metadata>),
    (copy, new): (&Dir, Option<&Metadata>),
) -> io::Result<bool> {
    let (Some(old), Some(new)) = (old, new) else { return Ok(false) };
    if old.file_type() != new.file_type() {
        return Ok(false);
    }
    if old.is_symlink() {
        return Ok(original.read_link_contents(path)? == copy.read_link_contents(path)?);
    }
    if !old.is_file() {
        return Ok(true);
    }

    Ok(old.len() == new.len() && old.permissions() == new.permissions() && same_bytes(original, copy, path)?)
}

fn same_bytes(original: &Dir, copy: &Dir, path: &Path) -> io::Result<bool> {
    let open = |dir: &Dir| open_file(dir, path).map(BufReader::new);
    // Unreadable files count as different.
    let (Ok(mut right), Ok(mut here)) = (open(original), open(copy)) else { return Ok(false) };
    let (mut one, mut other) = (vec![0; CHUNK], vec![0; CHUNK]);
    loop {
        let count = right.read(&mut one)?;
        if count == 0 {
            return Ok(here.read(&mut other[..1])? == 0);
        }

        match here.read_exact(&mut other[..count]) {
            Ok(()) if one[..count] == other[..count] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Creates a copy of an entry that does not exist yet.
fn copy_entry(original: &Dir, copy: &Dir, path: &Path, old: &Metadata) -> io::Result<()> {
    if old.is_dir() {
        copy.create_dir(path)
    } else if old.is_symlink() {
        create_link(&original.read_link_contents(path)?, copy, path)
    } else {
        copy_file(original, copy, path, old)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::copy::{LinkPolicy, copy_folder};

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    }

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").file_name()).collect()
    }

    /// Handles of both folders, which are created if necessary.
    fn open(paths: [&Path; 2]) -> [FolderHandle; 2] {
        paths.map(|path| {
            fs::create_dir_all(path).expect("made");
            FolderHandle::open(path).expect("opened")
        })
    }

    fn listing(root: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        let mut levels = vec![PathBuf::new()];
        while let Some(level) = levels.pop() {
            for name in names(&root.join(&level)) {
                let path = level.join(name);
                let found = fs::symlink_metadata(root.join(&path)).expect("there");
                let content = match fs::read_link(root.join(&path)) {
                    Ok(to) => format!("-> {}", to.display()),
                    Err(_) => fs::read_to_string(root.join(&path)).unwrap_or_default(),
                };
                lines.push(format!("{} {:o} {content}", path.display(), found.permissions().mode()));
                if found.is_dir() {
                    levels.push(path);
                }
            }
        }
        lines.sort();
        lines
    }

    #[test]
    fn whatever_was_done_is_undone() {
        let temp = tempfile::tempdir().expect("a folder");
        let (pristine, place) = (temp.path().join("pristine"), temp.path().join("place"));
        write(&pristine, "a/file", "1");
        write(&pristine, "a/run", "#!");
        mode(&pristine.join("a/run"), 0o755);
        write(&pristine, "fixed/x", "x");
        symlink("a/file", pristine.join("link")).expect("made");
        write(&pristine, ".git/HEAD", "ref");
        mode(&pristine.join("fixed"), 0o555);
        let [original, copy] = open([&pristine, &place]);
        copy_folder(&original, &copy, LinkPolicy::Verbatim, &AtomicBool::new(true)).expect("copied");
        let before = listing(&place);
        assert_eq!(before, listing(&pristine));

        fs::write(place.join("a/file"), "2").expect("written");
        mode(&place.join("a/run"), 0o600);
        mode(&place.join("fixed"), 0o755);
        fs::remove_file(place.join("fixed/x")).expect("removed");
        fs::create_dir(place.join("fixed/x")).expect("made");
        fs::remove_file(place.join("link")).expect("removed");
        symlink("/", place.join("link")).expect("made");
        write(&place, ".git/HEAD", "other");
        write(&place, "new/deep/er", "n");
        mode(&place.join("new/deep"), 0);
        symlink(temp.path().join("pristine"), place.join("way-out")).expect("made");
        restore_folder(&original, &copy, None).expect("put back");
        assert_eq!(listing(&place), before);
        assert_eq!(listing(&pristine), before, "the links were not followed");
    }

    #[test]
    fn a_fast_reset_leaves_what_is_excluded() {
        let temp = tempfile::tempdir().expect("a folder");
        let (pristine, place) = (temp.path().join("pristine"), temp.path().join("place"));
        write(&pristine, ".gitignore", "packages/\n*.tmp\n");
        write(&pristine, "packages/one", "1");
        write(&pristine, "file", "1");
        let [original, copy] = open([&pristine, &place]);
        copy_folder(&original, &copy, LinkPolicy::Verbatim, &AtomicBool::new(true)).expect("copied");
        write(&place, "packages/two", "2");
        fs::remove_file(place.join("packages/one")).expect("removed");
        write(&place, "sub/a.tmp", "t");
        write(&place, "sub/b.txt", "t");
        write(&place, "other/deep/c.txt", "t");
        write(&place, "file", "2");
        let ignored = IgnoreRules::read(original.dir());
        restore_folder(&original, &copy, Some(&ignored)).expect("put back");
        let names: Vec<String> =
            listing(&place).iter().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
        assert_eq!(names, [".gitignore", "file", "packages", "packages/two", "sub", "sub/a.tmp"]);
        assert_eq!(fs::read_to_string(place.join("file")).expect("there"), "1");
        restore_folder(&original, &copy, None).expect("put back");
        assert_eq!(listing(&place), listing(&pristine));
    }
}
