//! The run folder of a unit as one file.
//!
//! Compressing the rows of a unit of 500 results takes tens of milliseconds, and writing them waits for the
//! disk. Lease extensions and signs of life must not wait for that, so it runs on a thread for blocking work.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::error::ClusterError;

/// Most files in a run folder; a normal one has a handful.
const MAX_FILES: usize = 64;
/// Most bytes that a packed unit may unpack to.
const MAX_BYTES: u64 = 16 << 30;

/// Packs the files of a run folder.
///
/// # Errors
/// When one can't be read.
pub(crate) async fn pack(folder: PathBuf) -> Result<Vec<u8>, ClusterError> {
    let what = format!("pack `{}`", folder.display());
    run_blocking(move || packed(&folder).map_err(|error| ClusterError::storage(&what, error))).await
}

/// Runs blocking work on a thread for blocking work.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ClusterError> + Send + 'static,
) -> Result<T, ClusterError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ClusterError::storage("work on a result", error)))
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

/// Unpacks a result into a folder that does not exist yet. Writes nothing outside of it.
///
/// # Errors
/// [`ClusterError::Damaged`] when the bytes are not a result; another one when files can't be written.
pub(crate) async fn unpack(bytes: Vec<u8>, folder: PathBuf) -> Result<(), ClusterError> {
    let what = format!("unpack a result to `{}`", folder.display());
    let unpacking = run_blocking(move || {
        unpacked(&bytes, &folder).map_err(|error| match each_file(&bytes, |_, _| Ok(())) {
            Err(damage) => ClusterError::Damaged(damage.to_string()),
            Ok(()) => ClusterError::storage(&what, error),
        })
    });

    unpacking.await
}

fn unpacked(bytes: &[u8], folder: &Path) -> io::Result<()> {
    // Appended, not a replaced extension: units `2.1` and `2.2` would share one draft.
    let mut draft = folder.as_os_str().to_owned();
    draft.push(".part");
    let draft = PathBuf::from(draft);
    let _ = fs::remove_dir_all(&draft);
    fs::create_dir_all(&draft)?;

    each_file(bytes, |name, file| {
        io::copy(file, &mut fs::File::create_new(draft.join(name))?)?;
        Ok(())
    })?;

    fs::rename(&draft, folder)
}

/// Calls `see` for each file of a result with its name, and reads the archive to its end.
fn each_file(bytes: &[u8], mut see: impl FnMut(String, &mut dyn Read) -> io::Result<()>) -> io::Result<()> {
    let mut left = MAX_BYTES;
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    for (at, entry) in archive.entries()?.enumerate() {
        let mut entry = entry?;
        let name = file_name(&entry.path()?)?;
        left = left.checked_sub(entry.size()).ok_or_else(|| io::Error::other("it is too large"))?;
        if at >= MAX_FILES {
            return Err(io::Error::other("it has too many files"));
        }

        let size = entry.size();
        see(name, &mut entry.by_ref().take(size))?;
    }
    // The checksum comes after the last file.
    io::copy(&mut archive.into_inner().take(MAX_BYTES), &mut io::sink())?;

    Ok(())
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

    #[tokio::test]
    async fn damage_is_told_from_a_folder_that_cannot_be_written() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from");
        fs::create_dir(&from).unwrap();
        fs::write(from.join("results.jsonl"), "row\n").unwrap();
        let bytes = packed(&from).unwrap();

        for (at, damaged) in
            [&[], &bytes[..bytes.len() / 2], &bytes[..bytes.len() - 1]].into_iter().enumerate()
        {
            let unpacked = unpack(damaged.to_vec(), place.path().join(format!("half-{at}"))).await;
            assert!(matches!(unpacked, Err(ClusterError::Damaged(_))), "{at}: {unpacked:?}");
        }
        // No change of a byte goes unnoticed, except in bytes that Assize does not use, such as the time in the
        // header.
        for at in 0..bytes.len() {
            let to = place.path().join(format!("to-{at}"));
            let mut changed = bytes.clone();
            changed[at] = !changed[at];
            match unpack(changed, to.clone()).await {
                Ok(()) => assert_eq!(fs::read(to.join("results.jsonl")).unwrap(), b"row\n", "{at}"),
                damaged => assert!(matches!(damaged, Err(ClusterError::Damaged(_))), "{at}: {damaged:?}"),
            }
        }
        fs::write(place.path().join("file"), "").unwrap();
        let unwritable = unpack(bytes, place.path().join("file/to")).await;
        assert!(matches!(unwritable, Err(ClusterError::Refused(_))), "{unwritable:?}");
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
