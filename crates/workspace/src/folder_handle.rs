//! A folder that is kept open, so that replacing it by a link has no effect.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::WorkspaceError;

/// A folder that is kept open from its creation. All entries are accessed through the handle, so no path leads out of
/// it, even if the folder, a parent or a subfolder is replaced.
#[derive(Debug)]
pub(crate) struct FolderHandle {
    path: PathBuf,
    dir: Dir,
    identity: (u64, u64),
}

impl FolderHandle {
    /// Opens an existing folder. If `path` is a link, it is followed this once.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Self::new(path, dir)
    }

    /// Creates a folder of this name.
    pub(crate) fn create_folder(&self, name: &str) -> io::Result<Self> {
        self.dir.create_dir(name)?;
        Self::new(self.path.join(name), self.dir.open_dir_nofollow(name)?)
    }

    /// Opens the folder of this name, which must not be a link.
    pub(crate) fn open_folder(&self, name: &str) -> io::Result<Self> {
        Self::new(self.path.join(name), self.dir.open_dir_nofollow(name)?)
    }

    fn new(path: PathBuf, dir: Dir) -> io::Result<Self> {
        // A readable handle can also change permissions after the folder has become inaccessible.
        #[cfg(unix)]
        let dir = Dir::from_std_file(dir.open(".")?.into_std());

        let found = dir.dir_metadata()?;
        Ok(Self { identity: (found.dev(), found.ino()), path, dir })
    }

    /// The path at which the folder was opened. Another folder may be there now; see [`Self::check`].
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The handle. Relative paths from it can't lead outside.
    pub(crate) const fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns an error if the path no longer leads to the folder.
    pub(crate) fn check(&self) -> Result<(), WorkspaceError> {
        match self.entry_at_path() {
            Ok(found) if (found.dev(), found.ino()) == self.identity => Ok(()),
            Ok(found) => Err(self.replaced_error(if found.is_symlink() {
                "it was replaced by a link"
            } else if found.is_dir() {
                "it was replaced by another folder"
            } else {
                "it was replaced by something other than a folder"
            })),
            Err(error) => Err(self.replaced_error(&error.to_string())),
        }
    }

    fn entry_at_path(&self) -> io::Result<Metadata> {
        let (Some(above), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return self.dir.dir_metadata();
        };
        Dir::open_ambient_dir(above, ambient_authority())?.symlink_metadata(name)
    }

    fn replaced_error(&self, why: &str) -> WorkspaceError {
        WorkspaceError::new(
            "io",
            format!(
                "the workspace `{}` was replaced: {why}; nothing in it was read or removed",
                self.path.display()
            ),
        )
    }
}

/// Returns the names in a folder below `dir`, sorted.
pub(crate) fn sorted_names(dir: &Dir, folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names = dir
        .read_dir(path_or_dot(folder))?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<Vec<OsString>>>()?;
    names.sort();
    Ok(names)
}

/// Returns the path, or `.` for the empty one.
pub(crate) fn path_or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Opens a regular file below `dir` for reading. If it was replaced by a pipe or a device, neither blocks nor reads.
pub(crate) fn open_file(dir: &Dir, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);

    let file = dir.open_with(path, &options)?.into_std();
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }

    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn whatever_takes_the_place_of_a_folder_is_noticed() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = FolderHandle::open(temp.path()).expect("opened");
        let folder = root.create_folder("made").expect("created");
        let (path, moved) = (temp.path().join("made"), temp.path().join("moved"));
        fs::create_dir(temp.path().join("other")).expect("made");

        assert_eq!(folder.check(), Ok(()));

        fs::rename(&path, &moved).expect("moved");
        assert!(folder.check().is_err(), "gone");

        symlink(temp.path().join("other"), &path).expect("linked");
        assert!(folder.check().expect_err("replaced").message.contains("it was replaced by a link"));

        symlink(&moved, temp.path().join("made-2")).expect("linked");
        fs::rename(temp.path().join("made-2"), &path).expect("moved");
        assert!(folder.check().is_err(), "a link to the folder itself is a link all the same");

        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("made");
        assert!(folder.check().expect_err("replaced").message.contains("another folder"));
    }
}
