//! Replaces files atomically.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::EngineError;

/// Writes a file beside the old one, if there is one, and moves it into place, so that a crash leaves one of
/// the two. Permissions are kept, and symbolic links are followed.
pub fn replace_file(path: &Path, text: &str) -> Result<(), EngineError> {
    replace_file_with(path, |file| {
        file.write_all(text.as_bytes())
            .map_err(|error| EngineError::storage(format!("{}: can't be written: {error}", path.display())))
    })
}

/// Refuses to write a report in place of a file that was read.
///
/// # Errors
/// If this process has opened the file.
pub fn refuse_read_file(path: &Path) -> Result<(), EngineError> {
    if assize_files::was_opened(path) {
        let message = "was read, and a report does not replace it; name another file";
        return Err(EngineError::usage(format!("{}: {message}", path.display())));
    }

    Ok(())
}

/// Like [`replace_file_with`], for a report.
///
/// # Errors
/// As for [`replace_file_with`], and if this process has read the file.
pub fn write_report_file<T, E: From<EngineError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    refuse_read_file(path)?;
    replace_file_with(path, write)
}

/// Like [`replace_file`], with the content that `write` writes.
///
/// # Errors
/// If the file can't be written, or `write` fails. In both cases the old file is unchanged.
pub fn replace_file_with<T, E: From<EngineError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let failed = |error: io::Error| {
        E::from(EngineError::storage(format!("{}: can't be written: {error}", path.display())))
    };
    let is_new = !path.try_exists().map_err(failed)?;
    let path = if is_new { path.to_path_buf() } else { path.canonicalize().map_err(failed)? };
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".assize-new");

    let beside = path.with_file_name(name);
    let replace = || {
        let mut file = BufWriter::new(File::create(&beside).map_err(failed)?);
        if !is_new {
            let permissions =
                std::fs::metadata(&path).and_then(|old| file.get_ref().set_permissions(old.permissions()));
            permissions.map_err(failed)?;
        }

        let written = write(&mut file)?;
        file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed)?;
        std::fs::rename(&beside, &path).map_err(failed)?;
        Ok(written)
    };
    replace().inspect_err(|_| drop(std::fs::remove_file(&beside)))
}
