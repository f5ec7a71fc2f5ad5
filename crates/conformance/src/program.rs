//! The binary `assize` as it was built for these tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::shared::checkout;

/// The binary, built once if it is missing or older than its sources.
///
/// Testing the whole workspace builds it with other features than its package alone would get, so what is already there
/// and current is taken as it is.
pub(crate) fn built() -> Result<PathBuf, String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let program = path()?;
            if is_current(&program) { Ok(program) } else { build(&program).map(|()| program) }
        })
        .clone()
}

/// The place where cargo puts it: the folder above that of this test.
fn path() -> Result<PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let profile = this.ancestors().nth(2).ok_or("a test has no folder of a profile above it")?;
    Ok(profile.join(format!("assize{}", std::env::consts::EXE_SUFFIX)))
}

/// Tests if the binary is newer than the sources that cargo lists beside it.
fn is_current(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    let listed = std::fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let (Some(built), Some(latest)) = (changed(program), latest_source(&listed, changed)) else {
        return false;
    };
    latest <= built
}

/// The latest change of the files after the colon of a dependency list; none if one of them is gone.
fn latest_source(listed: &str, changed: impl Fn(&Path) -> Option<SystemTime>) -> Option<SystemTime> {
    let (_, sources) = listed.trim_end().split_once(": ")?;
    // Blanks in paths are written with a backslash before them.
    let sources = sources.replace("\\ ", "\0");
    let times: Option<Vec<SystemTime>> =
        sources.split(' ').map(|path| changed(Path::new(&path.replace('\0', " ")))).collect();
    times?.into_iter().max()
}

#[expect(clippy::disallowed_methods, reason = "cargo says in its environment which cargo it is")]
fn build(program: &Path) -> Result<(), String> {
    let folder = program.parent().and_then(Path::file_name).unwrap_or_default();
    let profile = if folder == "debug" { "dev".as_ref() } else { folder };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--package", "assize", "--profile"])
        .arg(profile)
        .current_dir(checkout())
        .stdin(Stdio::null());

    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`cargo build --package assize` failed ({status})")),
        Err(error) => Err(format!("can't start cargo: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_latest_source_is_found() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let changed = |path: &Path| match path.to_str() {
            Some("/a.rs") => Some(at(1)),
            Some("/b c.rs") => Some(at(3)),
            _ => None,
        };
        assert_eq!(latest_source("/assize: /a.rs /b\\ c.rs\n", changed), Some(at(3)));
        assert_eq!(latest_source("/assize: /a.rs /gone.rs\n", changed), None);
        assert_eq!(latest_source("", changed), None);
    }
}
