//! New text for files, in one step.

use std::io::Write as _;
use std::path::Path;

use crate::error::EngineError;

/// Writes a file beside the old one, if there is one, and moves it into place, so that a crash leaves one of the two.
/// Permissions are kept, and symbolic links are followed.
pub fn replace_file(path: &Path, text: &str) -> Result<(), EngineError> {
    let failed = |error: std::io::Error| {
        EngineError::storage(format!("{}: can't be written: {error}", path.display()))
    };
    let is_new = !path.try_exists().map_err(failed)?;
    let path = if is_new { path.to_path_buf() } else { path.canonicalize().map_err(failed)? };
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".assize-new");

    let beside = path.with_file_name(name);
    let write = || {
        let mut file = std::fs::File::create(&beside)?;
        if !is_new {
            file.set_permissions(std::fs::metadata(&path)?.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        failed(error)
    })
}
