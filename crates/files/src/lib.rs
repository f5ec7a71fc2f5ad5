//! Opens files that a user names: only regular files, up to a maximum size.

#![warn(missing_docs)]

mod roots;

use std::collections::BTreeSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

pub use assize_limits::EXPANDED_BYTES as MIN_EXPANDED_BYTES;
pub use assize_limits::EXPANSION_FACTOR as MAX_EXPANSION;
pub use assize_limits::FILE_BYTES as MAX_FILE_BYTES;
use parking_lot::Mutex;
pub use roots::{FileRoots, OTHER_WAYS};

/// Maximum decompressed size of a compressed file of this size, if `most` is the limit for the largest files.
pub fn max_expanded(packed: u64, most: u64) -> u64 {
    packed.saturating_mul(MAX_EXPANSION).max(MIN_EXPANDED_BYTES).min(most)
}

/// The files that this process has opened. A report must not replace any of them.
static OPENED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Returns true if this process has opened the file with [`open_file`].
pub fn was_opened(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| OPENED.lock().contains(&real))
}

/// Opens a regular file for reading, and remembers it. Other files are refused without waiting: a named pipe may never
/// have a writer, and a device may never end.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = open_regular(path)?;
    if let Ok(real) = path.canonicalize() {
        OPENED.lock().insert(real);
    }

    Ok(file)
}

/// Reads at most this many bytes of a regular file. The file does not count as opened by this process.
pub fn read_beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    open_regular(path)?.take(most).read_to_end(&mut beginning)?;
    Ok(beginning)
}

fn open_regular(path: &Path) -> io::Result<File> {
    // Opening a device can have effects, so check the type before.
    check_type(&std::fs::metadata(path)?)?;

    let mut options = OpenOptions::new();
    options.read(true);

    // The file may have been replaced since. Open without waiting, and check the type of the opened file again.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits().cast_signed(),
    );

    let file = options.open(path)?;
    check_type(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `max_bytes` bytes.
pub fn read_bytes(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_file(path)?;
    let size = file.metadata()?.len();
    if size > max_bytes {
        return Err(too_large(max_bytes));
    }

    // The file may grow, and files that the system generates (`/proc`) have no size.
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large(max_bytes));
    }

    Ok(bytes)
}

/// Reads a regular file of at most [`MAX_FILE_BYTES`] bytes of UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_up_to(path, MAX_FILE_BYTES)
}

/// Reads a regular file of at most `max_bytes` bytes of UTF-8.
pub fn read_text_up_to(path: &Path, max_bytes: u64) -> io::Result<String> {
    let bytes = read_bytes(path, max_bytes)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn check_type(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    if found.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }

    let message = format!("it is {}; only regular files are read", name_type(found));
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

#[cfg(unix)]
fn name_type(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;

    let kind = found.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn name_type(_: &Metadata) -> &'static str {
    "not a regular file"
}

fn too_large(max_bytes: u64) -> io::Error {
    let message = format!("it is larger than {} MiB", max_bytes / 1024 / 1024);
    io::Error::new(ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_are_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_bytes(&path, 5).unwrap(), b"12345");
        assert_eq!(read_bytes(&path, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_text(&path).unwrap(), "12345");
        assert!(was_opened(&folder.path().join(".").join("a")) && !was_opened(&folder.path().join("b")));
        assert_eq!(open_file(&folder.path().join("b")).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(open_file(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
    }

    #[test]
    #[cfg(unix)]
    fn pipes_devices_and_sockets_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();

        for (path, word) in [
            (pipe.as_path(), "a pipe"),
            (&link, "a device"),
            (Path::new("/dev/null"), "a device"),
            (&socket, "a socket"),
        ] {
            let error = read_text(path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_without_a_size_keep_to_the_limit_too() {
        assert_eq!(read_bytes(Path::new("/proc/self/maps"), 8).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
