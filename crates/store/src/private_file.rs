//! Files and folders that only the user can read, because they contain questions and answers.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Options for opening a file that only this user can read if it is created.
pub(crate) fn private_options() -> OpenOptions {
    #[allow(unused_mut, reason = "other systems have no mode")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

    options
}

/// Creates a folder with its parents. An existing folder is left unchanged.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        std::fs::create_dir_all(above)?;
    }

    #[allow(unused_mut, reason = "other systems have no mode")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);

    match builder.create(path) {
        Err(_) if path.is_dir() => Ok(()),
        done => done,
    }
}
