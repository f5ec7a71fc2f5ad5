//! Starts other programs in the root of the checkout.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The cargo that runs this program, set to start in the root of the checkout.
#[expect(clippy::disallowed_methods, reason = "cargo says in its environment which cargo it is")]
pub fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    forget_package(&mut command);
    command
}

/// A program of the path, started in the root of the checkout.
pub fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    forget_package(&mut command);
    command
}

/// Removes the variables that `cargo run` sets about this program's own package. The build script of `ring` runs again
/// if any of them changes, so a build from here and a build from a shell would each compile everything that uses TLS
/// again.
fn forget_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let is_of_package = name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"));
        if is_of_package {
            command.env_remove(name);
        }
    }
}

/// The exit code of this program. An error is printed.
pub fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command that inherits our output.
pub fn run(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    let status = command.status().map_err(|error| format!("can't start `{shown}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})")) }
}

/// Runs a command without showing its output, unless it fails: then the output is the error.
pub fn run_quietly(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    let output = command.output().map_err(|error| format!("can't start `{shown}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Err(format!("{stdout}{stderr}"))
}

/// Runs a command and returns its standard output. Its standard error is inherited.
pub fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    let output = command
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("can't start `{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed ({})", output.status));
    }

    String::from_utf8(output.stdout).map_err(|_| format!("`{shown}` printed something that is not UTF-8"))
}

/// The files of the repository, relative to its root with `/`: files under version control, and new files that are not
/// ignored. Without git, all files outside `target`.
pub fn files() -> Result<Vec<String>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]).current_dir(root());
    git.stderr(Stdio::null());

    let mut files: Vec<String> = match git.output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .split('\0')
            .filter(|name| !name.is_empty() && root().join(name).is_file())
            .map(str::to_owned)
            .collect(),
        _ => {
            let mut found = Vec::new();
            walk(&root(), "", &mut found).map_err(|error| format!("can't list the files: {error}"))?;
            found
        }
    };

    files.sort();
    files.dedup();

    Ok(files)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_file() {
            found.push(name);
        } else if kind.is_dir() && name != "target" && name != ".git" {
            walk(&entry.path(), &format!("{name}/"), found)?;
        }
    }
    Ok(())
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy();
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
    format!("{program} {}", words.join(" "))
}
