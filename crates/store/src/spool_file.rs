//! A temporary file for data that does not fit in memory. It disappears when the process ends.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::private_file::private_options;

/// A file of pieces that are read back by their offset. Only this user can read it.
#[derive(Debug)]
pub struct SpoolFile {
    file: File,
    path: PathBuf,
    end: u64,
}

/// Place of a piece in a [`SpoolFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolPlace {
    at: u64,
    length: u32,
}

impl SpoolPlace {
    /// Length in bytes.
    pub fn length(self) -> usize {
        self.length as usize
    }
}

impl SpoolFile {
    /// Creates an empty file with this name. An existing file is an error.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let file = private_options().create_new(true).read(true).write(true).open(path);
        let file = file.map_err(StoreError::io("create", path))?;
        // The name is no longer needed, and a file without a name disappears when the process ends, even if it is
        // killed.
        #[cfg(unix)]
        fs::remove_file(path).map_err(StoreError::io("delete", path))?;

        Ok(Self { file, path: path.to_path_buf(), end: 0 })
    }

    /// Creates an empty, unnamed file in this folder.
    pub(crate) fn unnamed(folder: &Path) -> Result<Self, StoreError> {
        let file = tempfile::tempfile_in(folder).map_err(StoreError::io("write", folder))?;
        Ok(Self { file, path: folder.to_path_buf(), end: 0 })
    }

    /// Appends a piece.
    pub fn append(&mut self, bytes: &[u8]) -> Result<SpoolPlace, StoreError> {
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "a request is longer than 4 GiB");
        let write = |file: &mut File, end: u64| {
            let length = u32::try_from(bytes.len()).map_err(|_| too_long())?;
            file.seek(SeekFrom::Start(end))?;
            file.write_all(bytes)?;
            Ok(SpoolPlace { at: end, length })
        };

        let place = write(&mut self.file, self.end).map_err(StoreError::io("write", &self.path))?;
        self.end += u64::from(place.length);
        Ok(place)
    }

    /// Reads a piece.
    pub fn read(&mut self, place: SpoolPlace) -> Result<Vec<u8>, StoreError> {
        let mut bytes = vec![0; place.length()];
        self.read_at(place.at, &mut bytes)?;
        Ok(bytes)
    }

    /// Offset at which the next piece will be written.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Fills `bytes` from the file.
    pub(crate) fn read_at(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), StoreError> {
        let found = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(bytes));
        found.map_err(StoreError::io("read", &self.path))
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        // If it could not be removed earlier.
        #[cfg(not(unix))]
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_again_in_any_order_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = SpoolFile::create(&folder.path().join("spool")).unwrap();
        let places: Vec<SpoolPlace> =
            ["a", "", "long piece"].iter().map(|piece| spool.append(piece.as_bytes()).unwrap()).collect();

        assert_eq!(spool.read(places[2]).unwrap(), b"long piece");
        assert_eq!(
            (spool.read(places[1]).unwrap(), spool.read(places[0]).unwrap()),
            (Vec::new(), b"a".to_vec())
        );
        drop(spool);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
