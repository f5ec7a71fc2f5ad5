//! The `assize` binary that the checks run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::shared::{checkout, files};

/// Path of the binary. It is built once if it is missing or older than its sources.
///
/// The tests of the product build it with other features than its package alone would get, so an existing current
/// binary is used unchanged.
pub(crate) fn built() -> Result<PathBuf, String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let program = path()?;
            if is_current(&program) { Ok(program) } else { build(&program).map(|()| program) }
        })
        .clone()
}

/// Where cargo puts the binary: in the folder above that of this test.
fn path() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let profile = this.ancestors().nth(2).ok_or("a test has no folder of a profile above it")?;
    Ok(profile.join(format!("assize{}", std::env::consts::EXE_SUFFIX)))
}

/// Whether the binary is newer than every file below `crates/`.
///
/// `cargo test` has no complete list of a binary's sources, so all files count, even files of tests: an unnecessary
/// build only takes time.
fn is_current(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    let Ok(sources) = files(&checkout().join("crates")) else { return false };

    changed(program).is_some_and(|built| is_newer(built, sources.iter().map(|path| changed(path))))
}

/// Whether nothing changed after a time. A file without a modification time counts as changed.
fn is_newer(built: SystemTime, mut changes: impl Iterator<Item = Option<SystemTime>>) -> bool {
    changes.all(|changed| changed.is_some_and(|at| at <= built))
}

#[expect(clippy::disallowed_methods, reason = "cargo says in its environment which cargo it is")]
fn build(program: &Path) -> Result<(), String> {
    let folder = program.parent().and_then(Path::file_name).unwrap_or_default();
    let profile = if folder == "debug" { "dev".as_ref() } else { folder };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--package", "assize", "--features", "full", "--profile"])
        .arg(profile)
        .current_dir(checkout())
        .stdin(Stdio::null());

    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`cargo build --package assize --features full` failed ({status})")),
        Err(error) => Err(format!("can't start cargo: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_later_change_makes_a_binary_old() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(is_newer(at(3), [Some(at(1)), Some(at(3))].into_iter()));
        assert!(!is_newer(at(2), [Some(at(1)), Some(at(3))].into_iter()));
        assert!(!is_newer(at(3), [Some(at(1)), None].into_iter()));
    }
}
