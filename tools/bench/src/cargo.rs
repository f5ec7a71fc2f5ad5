//! Runs cargo from the root of the checkout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// A call of the cargo that runs this program.
#[expect(clippy::disallowed_methods, reason = "cargo says in its environment which cargo it is")]
pub(crate) fn command(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// A call of cargo in the workspace of this program.
pub(crate) fn tools_command(arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.current_dir(root().join("tools"));
    command
}

/// Runs a command that inherits our output.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("can't start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo failed ({status})")) }
}

/// Runs a command and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("can't start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo failed ({})", output.status));
    }

    String::from_utf8(output.stdout).map_err(|_| "cargo printed something that is not UTF-8".to_owned())
}
