//! Lints and documents the crates of the workspace with the build for the tests.
//!
//! `cargo clippy` and `cargo doc` each compile all dependencies once more, as metadata. In a check, cargo calls this program instead
//! of rustc for every crate of the workspace. It passes the call on to clippy-driver, which lints and compiles, and keeps the
//! arguments in a file. The documentation step then calls rustdoc with them, so that it finds the dependencies where the build put
//! them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::{Value, json};
use xtask::shell;

/// Names the folder of the files with arguments. Set for all commands of a check.
pub(crate) const FOLDER_VARIABLE: &str = "ASSIZE_RUSTC_CALLS";

/// The arguments of clippy-driver for `cargo clippy -- -D warnings`.
pub(crate) const CLIPPY_ARGUMENTS: (&str, &str) =
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");

/// If cargo calls this program in place of rustc, does that and returns how it ended.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo and the check say in the environment what this program is called for"
)]
pub(crate) fn run() -> Option<ExitCode> {
    let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE)?);
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let rustc = Path::new(arguments.first()?);
    if rustc.file_stem()? != "rustc" {
        return None;
    }

    let texts: Option<Vec<String>> =
        arguments[1..].iter().map(|text| text.to_str().map(str::to_owned)).collect();
    if let Some(arguments) = texts
        && let Some(name) = documented(&arguments)
    {
        let is_of_crate = |name: &String| {
            name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" || name == "OUT_DIR"
        };
        // `env!` reads variables that cargo sets for the crate.
        let environment: BTreeMap<String, String> =
            std::env::vars().filter(|(name, _)| is_of_crate(name)).collect();
        let call = json!({"arguments": arguments, "environment": environment});
        if let Err(error) = std::fs::write(folder.join(format!("{name}.json")), call.to_string()) {
            eprintln!("the arguments of rustc for {name} can't be written: {error}");
            return Some(ExitCode::FAILURE);
        }
    }

    let status = Command::new("clippy-driver").args(&arguments).status();
    match status {
        Ok(status) if status.success() => Some(ExitCode::SUCCESS),
        Ok(_) => Some(ExitCode::FAILURE),
        Err(error) => {
            eprintln!("clippy-driver can't be started: {error}");
            Some(ExitCode::FAILURE)
        }
    }
}

/// Returns a name for the target if it has documentation: a library or program that is not built as a test.
fn documented(arguments: &[String]) -> Option<String> {
    let value = |option: &str| {
        let at = arguments.iter().position(|argument| argument == option)?;
        arguments.get(at + 1)
    };
    // Cargo asks for facts about the compiler with a crate of the name `___`.
    let name = value("--crate-name").filter(|name| !name.starts_with("build_script") && *name != "___")?;
    let kind = value("--crate-type")?;
    let is_test = arguments.iter().any(|argument| argument == "--test");
    (!is_test).then(|| format!("{name}-{kind}"))
}

/// Documents every crate that the build compiled, two at a time, and fails with the first that has a warning.
pub(crate) fn document(folder: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut calls: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    calls.sort();
    if calls.is_empty() {
        return Err("the build kept no calls of rustc".to_owned());
    }

    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let problems = std::sync::Mutex::new(Vec::new());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some(file) = calls.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(problem) = document_crate(file)
                        && let Ok(mut problems) = problems.lock()
                    {
                        problems.push(problem);
                    }
                }
            });
        }
    });

    let problems = problems.into_inner().unwrap_or_default();
    if problems.is_empty() {
        println!("documentation: {} crates", calls.len());
        return Ok(());
    }
    Err(problems.join("\n"))
}

fn document_crate(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let call: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let texts = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments: Vec<String> = call["arguments"].as_array().into_iter().flatten().map(texts).collect();
    let mut rustdoc = shell::program("rustdoc");
    for (name, value) in call["environment"].as_object().into_iter().flatten() {
        rustdoc.env(name, value.as_str().unwrap_or_default());
    }
    rustdoc.args(rustdoc_arguments(&arguments));
    rustdoc.args(["-D", "warnings", "-o"]).arg(shell::root().join("target/check/doc"));
    shell::run_quietly(&mut rustdoc).map_err(|output| format!("{}:\n{output}", file.display()))
}

/// The arguments of rustc that rustdoc also accepts. All items of a program are private, so private items of programs
/// are documented.
fn rustdoc_arguments(arguments: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--out-dir" | "-o" => {
                arguments.next();
            }
            "-C" => {
                let option = arguments.next().cloned().unwrap_or_default();
                if option.starts_with("metadata=") || option.starts_with("panic=") {
                    kept.extend([argument.clone(), option]);
                }
            }
            "--crate-type" => {
                let kind = arguments.next().cloned().unwrap_or_default();
                if kind == "bin" {
                    kept.push("--document-private-items".to_owned());
                }
                kept.extend([argument.clone(), kind]);
            }
            _ if argument.starts_with("--emit") || argument.starts_with("--json") => {}
            _ if argument.starts_with("--error-format") || argument.starts_with("-C") => {}
            _ => kept.push(argument.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn libraries_and_programs_are_documented_and_tests_are_not() {
        let library =
            words("--crate-name assize_rubric --edition=2024 crates/rubric/src/lib.rs --crate-type lib");
        assert_eq!(documented(&library).as_deref(), Some("assize_rubric-lib"));
        let test = words("--crate-name it --edition=2024 tests/it/main.rs --crate-type bin --test");
        assert_eq!(documented(&test), None);
        assert_eq!(documented(&words("--crate-name build_script_build --crate-type bin")), None);
        assert_eq!(documented(&words("--crate-name ___ --crate-type bin --print=cfg")), None);
    }

    #[test]
    fn rustdoc_gets_what_it_takes() {
        let call = words(
            "--crate-name assize --edition=2024 src/main.rs --error-format=json --json=artifacts --crate-type bin \
             --emit=dep-info,link -C embed-bitcode=no -C metadata=1 --out-dir target/debug/deps -L dependency=target/debug/deps \
             --extern clap=libclap.rlib",
        );
        let expected = words(
            "--crate-name assize --edition=2024 src/main.rs --document-private-items --crate-type bin -C metadata=1 \
             -L dependency=target/debug/deps --extern clap=libclap.rlib",
        );
        assert_eq!(rustdoc_arguments(&call), expected);
    }
}
