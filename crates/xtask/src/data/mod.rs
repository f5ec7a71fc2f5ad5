//! `cargo xtask data`: published and reference figures, computed again through the commands from the data they were
//! published with, where that data lies beside the checkout.

mod check;
mod convert;
mod sets;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{generate, shell};
use check::Table;

/// The program, the data and a folder for what is converted.
struct Data {
    program: PathBuf,
    source: PathBuf,
    folder: PathBuf,
}

/// Computes every figure and fails if one differs.
pub(crate) fn run(build: generate::Build) -> Result<(), String> {
    let source = shell::root().join("../shared/data");
    if !source.is_dir() {
        println!("skipped: there is no data beside the checkout");
        return Ok(());
    }
    let program = generate::program(build)?;
    let folder = program.with_file_name("data");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let data = Data { program, source, folder };
    let mut table = Table::default();
    for (name, set) in sets::ALL {
        if data.source.join(name).is_dir() {
            set(&data, &mut table).map_err(|error| format!("{name}: {error}"))?;
        } else {
            println!("skipped: {name} is not there");
        }
    }
    table.finish()
}

impl Data {
    fn file(&self, name: &str) -> PathBuf {
        self.source.join(name)
    }

    /// The text of a file of the data; `None` if it is not there.
    fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.file(name)).ok()
    }

    /// Writes rows as JSON lines for a command to read.
    fn write(&self, name: &str, rows: &[Value]) -> Result<PathBuf, String> {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        self.write_text(name, &(lines.join("\n") + "\n"))
    }

    /// Writes a file for a command to read.
    fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// A name for a folder that a command makes; what an earlier pass left there is gone.
    fn afresh(&self, name: &str) -> Result<String, String> {
        let folder = format!("{name}-run");
        match std::fs::remove_dir_all(self.folder.join(&folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{folder}: {error}")),
            _ => Ok(folder),
        }
    }

    /// What a command prints with `--json`.
    fn run(&self, command: &str, file: &Path, arguments: &[&str]) -> Result<Value, String> {
        self.ends(&[0], command, file, arguments)
    }

    /// What a command prints with `--json` that must end with one of these exit codes.
    fn ends(&self, codes: &[i32], command: &str, file: &Path, arguments: &[&str]) -> Result<Value, String> {
        let output = self.command(command, file, arguments)?;
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            return Err(format!("assize {command}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("assize {command}: {error}"))
    }

    /// What a command complains about that must refuse its input.
    fn refusal(&self, command: &str, file: &Path, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(command, file, arguments)?;
        if output.status.code() != Some(2) {
            return Err(format!("assize {command} {} should have been refused", file.display()));
        }
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn command(
        &self,
        command: &str,
        file: &Path,
        arguments: &[&str],
    ) -> Result<std::process::Output, String> {
        let mut line = Command::new(&self.program);
        line.args(command.split(' '));
        if command == "calibrate" {
            line.arg("--labels");
        }
        line.arg(file)
            .arg("--json")
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .stdin(Stdio::null());
        line.output().map_err(|error| format!("can't start {}: {error}", self.program.display()))
    }
}
