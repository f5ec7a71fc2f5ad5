//! `cargo xtask wheel`: builds the Python wheel that contains the program, installs it into a fresh
//! environment, and runs it there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::shell;

use crate::step::{StepOutcome, StepResult};
use crate::{cargo_stand_in, tools};

/// Output folder, relative to the root of the checkout.
const FOLDER: &str = "target/wheel";

/// The profile of the build of the workspace. Wheels with this profile are made from existing build output.
pub(crate) const DEV: &str = "dev";

/// Builds the wheel with a profile of cargo and tries it out.
pub(crate) fn run(profile: &str) -> StepResult {
    let maturin = match tools::from_python("maturin", "maturin") {
        Ok(maturin) => maturin,
        Err(why) => return Ok(StepOutcome::Skipped(why)),
    };

    let root = shell::root();
    let folder = root.join(FOLDER);
    for name in ["fresh", "run"] {
        remove(&folder.join(name))?;
    }

    let wheel = build(&maturin, "python", profile)?;
    install_and_use(&folder, &wheel)?;
    match tools::from_python("uv", "uv") {
        Ok(uv) => {
            let mut uvx = program(&uv, &["tool", "run", "--offline", "--from"]);
            let printed = shell::output(uvx.arg(&wheel).args(["assize", "--version"]))?;
            expect_version(&printed)?;
        }
        Err(why) => println!("SKIPPED `uvx` was not tried: {why}"),
    }

    println!("{} works", wheel.display());
    Ok(StepOutcome::Passed)
}

/// Builds the wheel of a folder with a `pyproject.toml`; returns its path.
pub(crate) fn build(maturin: &Path, project: &str, profile: &str) -> Result<PathBuf, String> {
    let root = shell::root();
    let dist = root.join(FOLDER).join("dist").join(project.replace('/', "-"));
    remove(&dist)?;

    let mut build = Command::new(maturin);
    build.args(["build", "--profile", profile, "--out"]).arg(&dist);
    build.current_dir(root.join(project)).env("CARGO_TARGET_DIR", root.join("target"));
    if profile == DEV {
        cargo_stand_in::prepare(&mut build, if project == "python" { "cli" } else { "python" })?;
    }
    shell::run(&mut build)?;
    only_file(&dist)
}

/// Installs the wheel into a fresh environment without a package index, and runs it as users would.
fn install_and_use(folder: &Path, wheel: &Path) -> Result<(), String> {
    let fresh = folder.join("fresh");
    shell::run(shell::program("python3").args(["-m", "venv"]).arg(&fresh))?;
    let python = executable(&fresh, "python");
    let mut pip = program(&python, &["-m", "pip", "install", "--quiet", "--no-index"]);
    shell::run(pip.arg(wheel))?;

    expect_version(&shell::output(&mut program(&executable(&fresh, "assize"), &["--version"]))?)?;
    expect_version(&shell::output(&mut program(&python, &["-m", "assize", "--version"]))?)?;

    let mut eval = program(&python, &["-m", "assize", "eval", "examples/quickstart", "--json", "--run-dir"]);
    let printed = shell::output(eval.arg(folder.join("run")))?;
    if !printed.contains("\"exit_code\": 0") {
        return Err(format!("`python -m assize eval examples/quickstart` printed something else: {printed}"));
    }

    let mut invalid = program(&python, &["-m", "assize", "validate", "nowhere.yaml"]);
    let status = invalid.stderr(std::process::Stdio::null()).status();
    match status.map(|status| status.code()) {
        Ok(Some(2)) => Ok(()),
        other => Err(format!(
            "`python -m assize validate nowhere.yaml` ended with {other:?} instead of exit code 2"
        )),
    }
}

/// A command that starts in the root of the checkout, without standard input.
pub(crate) fn program(path: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).current_dir(shell::root()).stdin(std::process::Stdio::null());
    command
}

fn expect_version(printed: &str) -> Result<(), String> {
    let version = concat!("assize ", env!("CARGO_PKG_VERSION"));
    if printed.trim() == version {
        Ok(())
    } else {
        Err(format!("expected `{version}`, found `{}`", printed.trim()))
    }
}

/// Path of an executable of a virtual environment.
pub(crate) fn executable(environment: &Path, name: &str) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join(format!("{name}.exe"))
    } else {
        environment.join("bin").join(name)
    }
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("can't read {}: {error}", folder.display()))?;
    let mut wheels: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("whl")))
        .collect();
    match (wheels.pop(), wheels.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        _ => Err(format!("expected one wheel in {}", folder.display())),
    }
}

fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("can't remove {}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Creates a Python environment if it is missing, and installs packages into it. The error is the reason why
/// that failed.
pub(crate) fn prepare(environment: &Path, packages: &[&str]) -> Result<(), String> {
    let python = executable(environment, "python");
    if !python.is_file() {
        let new_enough = "import sys; sys.exit(sys.version_info < (3, 10))";
        if !succeeds(shell::program("python3").args(["-c", new_enough])) {
            return Err("there is no python3 of version 3.10 or newer".to_owned());
        }
        if !succeeds(shell::program("python3").args(["-m", "venv"]).arg(environment)) {
            return Err("`python3 -m venv` failed; on Debian it needs python3-venv".to_owned());
        }
    }

    let mut pip = program(&python, &["-m", "pip", "install", "--quiet", "--no-compile", "--retries", "1"]);
    if succeeds(pip.args(packages)) {
        return Ok(());
    }
    Err(format!("pip can't install {}", packages.join(", ")))
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}
