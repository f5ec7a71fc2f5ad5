//! Temporary folders that other users of the machine can't read.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Creates a temporary folder in `root` that only this user may enter. It is removed with its contents on drop.
pub fn private_folder(prefix: &str, root: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }

    builder.tempdir_in(root)
}
