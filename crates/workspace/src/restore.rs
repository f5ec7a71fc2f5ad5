//! Putting a folder back to what it was, and making sure that it is.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::PlaceError;
use crate::copy::{file, link, names};
use crate::ignored::Ignored;
use crate::remove::{open_up, remove};

/// Bytes compared at once.
const CHUNK: usize = 64 * 1024;

/// Makes `place` the same as `pristine`, and looks again whether it is. `keep` says which paths are left as they are
/// where both have them, and where only the place has them.
pub(crate) fn restore(pristine: &Path, place: &Path, keep: Option<&Ignored>) -> Result<(), PlaceError> {
    let failed = |error: io::Error| PlaceError::io("put back", place, &error);
    open_up(place);
    walk(pristine, place, keep, true).map_err(failed)?;
    match walk(pristine, place, keep, false).map_err(failed)? {
        None => Ok(()),
        Some(path) => Err(PlaceError::new(
            "reset",
            format!("the workspace could not be put back: `{}` is not what it was", path.display()),
        )),
    }
}

/// Goes through both folders. Repairs what differs, or gives the first path that does.
fn walk(pristine: &Path, place: &Path, keep: Option<&Ignored>, repair: bool) -> io::Result<Option<PathBuf>> {
    let mut levels = vec![PathBuf::new()];
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some(level) = levels.pop() {
        let wanted = names_or_none(&pristine.join(&level))?;
        let found = names_or_none(&place.join(&level))?;
        for name in wanted.union(&found) {
            let path = level.join(name);
            let (right, here) = (pristine.join(&path), place.join(&path));
            let (old, new) = (look(&right)?, look(&here)?);
            let is_dir = new.as_ref().is_some_and(Metadata::is_dir);
            let excluded = |keep: &Ignored| keep.covers(&path, is_dir).is_some();
            if new.is_some() && keep.is_some_and(excluded) {
                continue;
            }
            match (&old, keep) {
                (Some(old), _) if old.is_dir() && is_dir => {
                    folders.push(path.clone());
                    levels.push(path);
                }
                // A new folder may hold something that is kept.
                (None, Some(keep)) if is_dir => {
                    if let Some(path) = prune(place, &path, keep, repair)? {
                        return Ok(Some(path));
                    }
                }
                _ if same(&right, old.as_ref(), &here, new.as_ref())? => {}
                _ if !repair => return Ok(Some(path)),
                (old, _) => {
                    remove(&here)?;
                    let Some(old) = old else { continue };
                    put(&right, &here, old)?;
                    if old.is_dir() {
                        folders.push(path.clone());
                        levels.push(path);
                    }
                }
            }
        }
    }
    // Last and deepest first: a folder that may not be written into could not be repaired any more.
    for path in folders.iter().rev().filter(|_| repair) {
        if let Some(old) = look(&pristine.join(path))? {
            fs::set_permissions(place.join(path), old.permissions())?;
        }
    }
    Ok(None)
}

/// Empties a new folder but for what is kept, and removes it if that is nothing; or gives the first path that would go.
fn prune(place: &Path, folder: &Path, keep: &Ignored, repair: bool) -> io::Result<Option<PathBuf>> {
    for name in names(&place.join(folder))? {
        let path = folder.join(name);
        let is_dir = look(&place.join(&path))?.is_some_and(|found| found.is_dir());
        if keep.covers(&path, is_dir).is_some() {
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
    if !names(&place.join(folder))?.is_empty() {
        return Ok(None);
    }
    if !repair {
        return Ok(Some(folder.to_path_buf()));
    }
    remove(&place.join(folder))?;
    Ok(None)
}

fn names_or_none(folder: &Path) -> io::Result<BTreeSet<std::ffi::OsString>> {
    match names(folder) {
        Ok(names) => Ok(names.into_iter().collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether both are files of the same contents and permissions, or links to the same place.
fn same(right: &Path, old: Option<&Metadata>, here: &Path, new: Option<&Metadata>) -> io::Result<bool> {
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
    // What can't be read is not known to be the same.
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

/// Puts one thing where nothing is.
fn put(right: &Path, here: &Path, old: &Metadata) -> io::Result<()> {
    if old.is_dir() {
        fs::create_dir(here)
    } else if old.is_symlink() {
        link(&fs::read_link(right)?, here)
    } else {
        file(right, here, old)
    }
}
