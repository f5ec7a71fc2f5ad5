//! The user's list of trusted folders: files in them may start programs.
//!
//! The list is in the user's data folder, never in a project. A folder is identified by its canonical path and, where
//! the system has them, its device and inode, so another folder that takes its place is not trusted.

use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Version of the format of the list.
const FORMAT_VERSION: u32 = 1;
/// The largest list that is read, in bytes.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// A trusted folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFolder {
    /// Canonical path.
    pub path: PathBuf,
    /// Device and inode; `None` where the system has none.
    identity: Option<[u64; 2]>,
}

#[derive(Serialize, Deserialize)]
struct TrustFile {
    format_version: u32,
    folders: Vec<TrustedFolder>,
}

/// The list of trusted folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedFolders {
    folders: Vec<TrustedFolder>,
}

impl TrustedFolder {
    fn new(folder: &Path) -> io::Result<Self> {
        let path = folder.canonicalize()?;
        let metadata = fs::metadata(&path)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }

        Ok(Self { identity: identity(&metadata), path })
    }

    /// Whether the folder is still the one that was added.
    pub fn is_unchanged(&self) -> bool {
        Self::new(&self.path).is_ok_and(|now| now == *self)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "not every system has an identity")]
fn identity(metadata: &Metadata) -> Option<[u64; 2]> {
    use std::os::unix::fs::MetadataExt;
    Some([metadata.dev(), metadata.ino()])
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<[u64; 2]> {
    None
}

impl TrustedFolders {
    /// Reads the list; it is empty if there is no file.
    ///
    /// # Errors
    /// If the file can't be read, is a link, is accessible to other users, or has another format.
    pub fn read(file: &Path) -> Result<Self, String> {
        let failed =
            |why: &dyn std::fmt::Display| format!("the list of trusted folders `{}`: {why}", file.display());
        let metadata = match fs::symlink_metadata(file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(&error)),
        };
        if !metadata.is_file() {
            return Err(failed(&"is not a regular file; remove it, and trust your folders again"));
        }
        if is_open_to_others(&metadata) {
            return Err(failed(&"other users can read or change it; look at it, then run `chmod 600` on it"));
        }

        let bytes = assize_files::read_bytes(file, MAX_LIST_BYTES).map_err(|error| failed(&error))?;
        let list: TrustFile = serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
        if list.format_version != FORMAT_VERSION {
            let found = list.format_version;
            return Err(failed(&format!(
                "has format version {found}, and this program knows {FORMAT_VERSION}"
            )));
        }

        Ok(Self { folders: list.folders })
    }

    /// Writes the list, readable by the user alone.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let mut builder = fs::DirBuilder::new();
        let mut options = fs::OpenOptions::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            builder.mode(0o700);
            options.mode(0o600);
        }
        builder.recursive(true).create(folder)?;

        let beside = file.with_extension("json.new");
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let list = TrustFile { format_version: FORMAT_VERSION, folders: self.folders.clone() };
        let mut text = serde_json::to_vec_pretty(&list)?;
        text.push(b'\n');
        let mut written = options.write(true).create_new(true).open(&beside)?;
        written.write_all(&text)?;
        written.sync_all()?;
        fs::rename(&beside, file)
    }

    /// Adds a folder.
    ///
    /// # Errors
    /// If it is not a folder.
    pub fn add(&mut self, folder: &Path) -> io::Result<()> {
        let added = TrustedFolder::new(folder)?;
        self.folders.retain(|known| known.path != added.path);
        self.folders.push(added);
        self.folders.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    /// Removes a folder, by its canonical path or, if it is gone, by its absolute one. Returns false if it was not
    /// in the list.
    pub fn remove(&mut self, folder: &Path) -> bool {
        let path = folder.canonicalize().or_else(|_| std::path::absolute(folder));
        let path = path.unwrap_or_else(|_| folder.to_path_buf());
        let before = self.folders.len();
        self.folders.retain(|known| known.path != path);
        self.folders.len() < before
    }

    /// The folders, in the order of their paths.
    pub fn folders(&self) -> &[TrustedFolder] {
        &self.folders
    }

    /// Whether a file is in a trusted folder, wherever links in its path lead.
    pub(crate) fn cover(&self, file: &Path) -> bool {
        let Ok(path) = file.canonicalize() else { return false };
        self.folders.iter().any(|folder| path.starts_with(&folder.path) && folder.is_unchanged())
    }
}

#[cfg(unix)]
fn is_open_to_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_the_folder_itself_is_trusted_and_no_link_or_other_folder_in_its_place() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for path in ["mine/deep", "theirs", "mine-too"] {
            fs::create_dir_all(at(path)).unwrap();
            fs::write(at(path).join("a.yaml"), "").unwrap();
        }
        symlink(at("theirs/a.yaml"), at("mine/link.yaml")).unwrap();
        symlink(at("mine"), at("link")).unwrap();

        let mut trusted = TrustedFolders::default();
        trusted.add(&at("mine")).unwrap();
        assert!(trusted.add(&at("theirs/a.yaml")).is_err() && trusted.add(&at("none")).is_err());
        assert!(trusted.cover(&at("mine/deep/a.yaml")) && trusted.cover(&at("link/deep/a.yaml")));
        for other in
            ["theirs/a.yaml", "mine/link.yaml", "mine-too/a.yaml", "mine/none.yaml", "mine/../theirs/a.yaml"]
        {
            assert!(!trusted.cover(&at(other)), "{other}");
        }

        fs::rename(at("mine"), at("moved")).unwrap();
        assert!(!trusted.cover(&at("moved/deep/a.yaml")));
        symlink(at("moved"), at("mine")).unwrap();
        assert!(!trusted.cover(&at("mine/deep/a.yaml")));
        fs::remove_file(at("mine")).unwrap();
        fs::rename(at("theirs"), at("mine")).unwrap();
        assert!(!trusted.cover(&at("mine/a.yaml")));
    }

    #[test]
    fn the_list_belongs_to_the_user_alone() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("data/assize/trusted-folders.json");
        assert_eq!(TrustedFolders::read(&file), Ok(TrustedFolders::default()));

        let mut trusted = TrustedFolders::default();
        trusted.add(root.path()).unwrap();
        trusted.write(&file).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert_eq!(TrustedFolders::read(&file), Ok(trusted.clone()));

        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(TrustedFolders::read(&file).unwrap_err().contains("chmod 600"));
        let link = root.path().join("link.json");
        trusted.write(&file).unwrap();
        symlink(&file, &link).unwrap();
        assert!(TrustedFolders::read(&link).unwrap_err().contains("not a regular file"));
        for text in ["{", r#"{"format_version": 2, "folders": []}"#] {
            fs::write(&file, text).unwrap();
            assert!(TrustedFolders::read(&file).is_err(), "{text}");
        }

        assert!(trusted.remove(root.path()) && !trusted.remove(root.path()));
        assert!(trusted.folders().is_empty());
    }
}
