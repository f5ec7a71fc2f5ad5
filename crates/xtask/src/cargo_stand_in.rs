//! Builds wheels from existing build output.
//!
//! maturin builds a package by itself with `cargo rustc`. Cargo then chooses the features of dependencies for that
//! package alone, and compiles the workspace once more. So maturin calls this program as its cargo. For a build, it
//! prints the messages of the build that the tests use; it passes all other calls on to cargo.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde_json::Value;
use xtask::shell;
use xtask::workspace_build::WorkspaceBuild;

/// Names the folder below `crates/` of the package that maturin builds.
const PACKAGE_VARIABLE: &str = "ASSIZE_BUILT_PACKAGE";

/// Makes a call of maturin use this program as its cargo, for a package in a folder of `crates/`.
pub(crate) fn prepare(maturin: &mut Command, folder: &str) -> Result<(), String> {
    let this = std::env::current_exe().map_err(|error| format!("this program can't be found: {error}"))?;
    maturin.env("CARGO", this).env(PACKAGE_VARIABLE, folder);
    Ok(())
}

/// Replaces the files of a message by copies. maturin moves the files temporarily, and tests that run at the same time
/// may start the program in that moment.
fn hand_out_copies(message: &mut Value) -> Result<(), String> {
    let folder = shell::root().join("target/wheel/built");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let copy = |named: &mut Value| -> Result<(), String> {
        let Some(path) = named.as_str().map(PathBuf::from) else { return Ok(()) };
        let Some(name) = path.file_name() else { return Ok(()) };
        let to = folder.join(name);
        std::fs::copy(&path, &to).map_err(|error| format!("{}: {error}", path.display()))?;
        *named = to.to_string_lossy().into();
        Ok(())
    };

    let named = message.get_mut("filenames").and_then(Value::as_array_mut);
    named.into_iter().flatten().try_for_each(copy)?;
    message.get_mut("executable").map_or(Ok(()), copy)
}

/// If maturin calls this program as its cargo, handles the call and returns its exit code.
#[expect(clippy::disallowed_methods, reason = "maturin hands on the environment that it was started with")]
pub(crate) fn run() -> Option<ExitCode> {
    let folder = std::env::var(PACKAGE_VARIABLE).ok()?;
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "rustc") {
        let printed = WorkspaceBuild::make().and_then(|build| {
            for mut message in build.messages_about(&folder) {
                hand_out_copies(&mut message)?;
                writeln!(std::io::stdout(), "{message}").map_err(|error| error.to_string())?;
            }
            Ok(())
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
