//! Wheels from what is built already.
//!
//! maturin builds a package by itself with `cargo rustc`. Cargo then chooses the features of dependencies for that package alone, and
//! compiles the workspace once more. So maturin is given this program as its cargo: asked to build, it answers with the messages of
//! the build that the tests use; all other calls go to cargo.

use std::io::Write as _;
use std::process::{Command, ExitCode};

use xtask::workspace_build::WorkspaceBuild;

/// Names the folder below `crates/` of the package that maturin builds.
const PACKAGE_VARIABLE: &str = "ASSIZE_BUILT_PACKAGE";

/// Makes a call of maturin use this program as its cargo, for a package in a folder of `crates/`.
pub(crate) fn prepare(maturin: &mut Command, folder: &str) -> Result<(), String> {
    let this = std::env::current_exe().map_err(|error| format!("this program can't be found: {error}"))?;
    maturin.env("CARGO", this).env(PACKAGE_VARIABLE, folder);
    Ok(())
}

/// If maturin calls this program as its cargo, does what it asks for and returns how that ended.
#[expect(clippy::disallowed_methods, reason = "maturin hands on the environment that it was started with")]
pub(crate) fn run() -> Option<ExitCode> {
    let folder = std::env::var(PACKAGE_VARIABLE).ok()?;
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "rustc") {
        let printed = WorkspaceBuild::make().and_then(|build| {
            let messages = build.messages_about(&folder);
            std::io::stdout().write_all(messages.as_bytes()).map_err(|error| error.to_string())
        });
        return Some(match printed {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        });
    }

    let status =
        Command::new("cargo").args(arguments).env_remove("CARGO").env_remove(PACKAGE_VARIABLE).status();
    Some(if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
