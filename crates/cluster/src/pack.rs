//! The run folder of a unit as one file.
//!
//! Compressing the rows of a unit of 500 results takes tens of milliseconds, and writing them waits for the disk. Leases and signs
//! of life must not wait for that, so it is done on a thread for blocking work.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::error::ClusterError;

/// Files in a run folder, at most. It has a handful.
const MOST_FILES: usize = 64;
/// Bytes that a unit unfolds to at most.
const MOST_BYTES: u64 = 16 << 30;

/// Packs the files of a run folder.
///
/// # Errors
/// When one can't be read.
pub(crate) async fn pack(folder: PathBuf) -> Result<Vec<u8>, ClusterError> {
    let what = format!("pack `{}`", folder.display());
    apart(move || packed(&folder)).await.map_err(|error| ClusterError::storage(&what, error))
}

/// Does blocking work on a thread that is there for it.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn packed(folder: &Path) -> io::Result<Vec<u8>> {
    let mut names: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    names.sort();

    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for name in names {
        let path = folder.join(&name);
        if path.is_file() {
            archive.append_path_with_name(&path, &name)?;
        }
    }

    archive.into_inner()?.finish()
}

/// Unpacks a result into a folder that is not there yet. Nothing is written outside of it.
///
/// # Errors
/// When the bytes are not a result, or files can't be written.
pub(crate) async fn unpack(bytes: Vec<u8>, folder: PathBuf) -> Result<(), ClusterError> {
    let what = format!("unpack a result to `{}`", folder.display());
    apart(move || unpacked(&bytes, &folder)).await.map_err(|error| ClusterError::storage(&what, error))
}

fn unpacked(bytes: &[u8], folder: &Path) -> io::Result<()> {
    // Not instead of an extension: units `2.1` and `2.2` are two.
    let mut draft = folder.as_os_str().to_owned();
    draft.push(".part");
    let draft = PathBuf::from(draft);
    let _ = fs::remove_dir_all(&draft);
    fs::create_dir_all(&draft)?;

    let mut left = MOST_BYTES;
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    for (at, entry) in archive.entries()?.enumerate() {
        let mut entry = entry?;
        let name = file_name(&entry.path()?)?;
        left = left.checked_sub(entry.size()).ok_or_else(|| io::Error::other("it is too large"))?;
        if at >= MOST_FILES {
            return Err(io::Error::other("it has too many files"));
        }

        let mut file = fs::File::create_new(draft.join(name))?;
        let size = entry.size();
        io::copy(&mut entry.by_ref().take(size), &mut file)?;
    }

    fs::rename(&draft, folder)
}

fn file_name(path: &Path) -> io::Result<String> {
    let mut parts = path.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => Ok(name.to_string_lossy().into_owned()),
        _ => Err(io::Error::other(format!("`{}` is not the name of a file", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_comes_out_as_it_went_in() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("run.json"), "{}").unwrap();
        fs::write(from.join("results.jsonl"), "row\n".repeat(1000)).unwrap();

        let bytes = packed(&from).unwrap();
        assert!(bytes.len() < 1000, "{} bytes", bytes.len());
        unpacked(&bytes, &to).unwrap();
        for name in ["run.json", "results.jsonl"] {
            assert_eq!(fs::read(from.join(name)).unwrap(), fs::read(to.join(name)).unwrap());
        }
        assert!(unpacked(&bytes[..bytes.len() / 2], &place.path().join("half")).is_err());
    }

    #[test]
    fn no_file_is_written_outside_of_the_folder() {
        let place = tempfile::tempdir().unwrap();
        for name in ["../evil", "/tmp/evil", "a/b"] {
            let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
            let mut header = tar::Header::new_gnu();
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(1);
            header.set_cksum();
            archive.append(&header, &b"x"[..]).unwrap();
            let bytes = archive.into_inner().unwrap().finish().unwrap();
            let error = unpacked(&bytes, &place.path().join("to")).unwrap_err().to_string();
            assert!(error.contains("is not the name of a file"), "{error}");
        }
    }
}
