//! Restoring of a folder to its original state, with verification.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::WorkspaceError;
use crate::copy::{copy_file, link, sorted_names};
use crate::ignore_rules::IgnoreRules;
use crate::remove::{grant_access, remove};

/// Bytes compared at once.
const CHUNK: usize = 64 * 1024;

/// Makes `place` equal to `pristine`, and verifies the result. `keep` selects the paths that are not restored
/// if both have them or only `place` has them.
pub(crate) fn restore_folder(
    pristine: &Path,
    place: &Path,
    keep: Option<&IgnoreRules>,
) -> Result<(), WorkspaceError> {
    let failed = |error: io::Error| WorkspaceError::io("put back", place, &error);
    grant_access(place);
    compare_folders(pristine, place, keep, true).map_err(failed)?;

    match compare_folders(pristine, place, keep, false).map_err(failed)? {
        None => Ok(()),
        Some(path) => Err(WorkspaceError::new(
            "reset",
            format!("the workspace could not be put back: `{}` is not what it was", path.display()),
        )),
    }
}

/// Compares both folders. Repairs the differences, or returns the first path that differs.
fn compare_folders(
    pristine: &Path,
    place: &Path,
    keep: Option<&IgnoreRules>,
    repair: bool,
) -> io::Result<Option<PathBuf>> {
    let mut levels = vec![PathBuf::new()];
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some(level) = levels.pop() {
        let wanted = names_or_none(&pristine.join(&level))?;
        let found = names_or_none(&place.join(&level))?;
        for name in wanted.union(&found) {
            let path = level.join(name);
            let (right, here) = (pristine.join(&path), place.join(&path));
            let (old, new) = (metadata_if_exists(&right)?, metadata_if_exists(&here)?);
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
                    if let Some(path) = prune(place, &path, keep, repair)? {
                        return Ok(Some(path));
                    }
                }
                _ if same_entry(&right, old.as_ref(), &here, new.as_ref())? => {}
                _ if !repair => return Ok(Some(path)),
                (old, _) => {
                    remove(&here)?;
                    let Some(old) = old else { continue };
                    copy_entry(&right, &here, old)?;

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
        if let Some(old) = metadata_if_exists(&pristine.join(path))? {
            fs::set_permissions(place.join(path), old.permissions())?;
        }
    }

    Ok(None)
}

/// Empties a new folder except for kept files, and removes it if there are none; or returns the first path to
/// remove.
fn prune(place: &Path, folder: &Path, keep: &IgnoreRules, repair: bool) -> io::Result<Option<PathBuf>> {
    for name in sorted_names(&place.join(folder))? {
        let path = folder.join(name);
        let is_dir = metadata_if_exists(&place.join(&path))?.is_some_and(|found| found.is_dir());
        if keep.find_excluded(&path, is_dir).is_some() {
            continue;
        }

        if is_dir {
            if let Some(path) = prune(place, &path, keep, repair)? {
                return Ok(Some(path));
            }
        } else if repair {
            remove(&place.join(&path))?;
        } else {
            return Ok(Some(path));
        }
    }

    if !sorted_names(&place.join(folder))?.is_empty() {
        return Ok(None);
    }
    if !repair {
        return Ok(Some(folder.to_path_buf()));
    }

    remove(&place.join(folder))?;
    Ok(None)
}

fn names_or_none(folder: &Path) -> io::Result<BTreeSet<std::ffi::OsString>> {
    match sorted_names(folder) {
        Ok(names) => Ok(names.into_iter().collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

fn metadata_if_exists(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns true if both are files with equal contents and permissions, or links with equal targets.
fn same_entry(right: &Path, old: Option<&Metadata>, here: &Path, new: Option<&Metadata>) -> io::Result<bool> {
    let (Some(old), Some(new)) = (old, new) else { return Ok(false) };
    if old.file_type() != new.file_type() {
        return Ok(false);
    }
    if old.is_symlink() {
        return Ok(fs::read_link(right)? == fs::read_link(here)?);
    }
    if !old.is_file() {
        return Ok(true);
    }

    Ok(old.len() == new.len() && old.permissions() == new.permissions() && same_bytes(right, here)?)
}

fn same_bytes(right: &Path, here: &Path) -> io::Result<bool> {
    let open = |path: &Path| File::open(path).map(BufReader::new);
    // Unreadable files count as different.
    let (Ok(mut right), Ok(mut here)) = (open(right), open(here)) else { return Ok(false) };
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

/// Creates a copy where nothing exists.
fn copy_entry(right: &Path, here: &Path, old: &Metadata) -> io::Result<()> {
    if old.is_dir() {
        fs::create_dir(here)
    } else if old.is_symlink() {
        link(&fs::read_link(right)?, here)
    } else {
        copy_file(right, here, old)
    }
}

#[cfg(all(test, unix))]
mod tests {
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

    fn listing(root: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        let mut levels = vec![PathBuf::new()];
        while let Some(level) = levels.pop() {
            for name in sorted_names(&root.join(&level)).expect("readable") {
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
        copy_folder(&pristine, &place, LinkPolicy::Verbatim, &AtomicBool::new(true)).expect("copied");
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
        restore_folder(&pristine, &place, None).expect("put back");
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
        copy_folder(&pristine, &place, LinkPolicy::Verbatim, &AtomicBool::new(true)).expect("copied");
        write(&place, "packages/two", "2");
        fs::remove_file(place.join("packages/one")).expect("removed");
        write(&place, "sub/a.tmp", "t");
        write(&place, "sub/b.txt", "t");
        write(&place, "other/deep/c.txt", "t");
        write(&place, "file", "2");
        let ignored = IgnoreRules::read(&pristine);
        restore_folder(&pristine, &place, Some(&ignored)).expect("put back");
        let names: Vec<String> =
            listing(&place).iter().filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect();
        assert_eq!(names, [".gitignore", "file", "packages", "packages/two", "sub", "sub/a.tmp"]);
        assert_eq!(fs::read_to_string(place.join("file")).expect("there"), "1");
        restore_folder(&pristine, &place, None).expect("put back");
        assert_eq!(listing(&place), listing(&pristine));
    }
}
