//! Runs commands on a data set.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::convert::items;

/// Few resamples: the published figures have no bootstrap intervals.
pub(super) const QUICK: [&str; 2] = ["--resamples", "20"];

/// The program, the data and a folder for converted files.
pub(super) struct DatasetRun {
    pub(super) program: PathBuf,
    pub(super) source: PathBuf,
    pub(super) folder: TempDir,
}

impl DatasetRun {
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.source.join(name)
    }

    /// Content of a file of the data set.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.file(name)).map_err(|error| format!("{name}: {error}"))
    }

    /// Writes rows as JSON lines for a command to read.
    pub(super) fn write(&self, name: &str, rows: &[Value]) -> Result<PathBuf, String> {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        self.write_text(name, &(lines.join("\n") + "\n"))
    }

    /// Writes a file for a command to read.
    pub(super) fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// Runs a command that must succeed, and returns its `--json` output.
    pub(super) fn run(&self, command: &str, file: &Path, arguments: &[&str]) -> Result<Value, String> {
        self.ends(&[0], command, file, arguments)
    }

    /// Runs a command that must end with one of these exit codes, and returns its `--json` output.
    pub(super) fn ends(
        &self,
        codes: &[i32],
        command: &str,
        file: &Path,
        arguments: &[&str],
    ) -> Result<Value, String> {
        let output = self.command(command, file, arguments)?;
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            return Err(format!("assize {command}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("assize {command}: {error}"))
    }

    /// Runs a command that must refuse its input, and returns its diagnostics.
    pub(super) fn refusal(&self, command: &str, file: &Path, arguments: &[&str]) -> Result<String, String> {
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
            .current_dir(self.folder.path())
            .env_clear()
            .stdin(Stdio::null());
        line.output().map_err(|error| format!("can't start {}: {error}", self.program.display()))
    }
}

/// The first object of a list with these values under these keys; `null` if there is none.
pub(super) fn find<'v>(list: &'v Value, keys: &[(&str, &str)]) -> &'v Value {
    items(list)
        .iter()
        .find(|object| keys.iter().all(|(key, wanted)| object[*key] == *wanted))
        .unwrap_or(&Value::Null)
}
