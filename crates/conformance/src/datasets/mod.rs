//! Published and reference figures, computed again through the commands from the data they were published with.

mod biggen;
mod convert;
mod devai;
mod dialogues;
mod figures;
mod healthbench;
mod llmbar;
mod paperbench;
mod prometheus;
mod promptfoo;
mod rewardbench;
mod systems;
mod trees;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::program;
use crate::shared::SharedFolder;
use convert::items;
use figures::FigureTable;

/// A data set: its folder below `data/`, and the function that fills its table of figures.
type Dataset = (&'static str, fn(&DatasetRun, &mut FigureTable) -> Result<(), String>);

/// Every data set.
const DATASETS: &[Dataset] = &[
    ("paperbench", paperbench::paperbench),
    ("devai-agent-judge", devai::devai),
    ("healthbench-meta-120", healthbench::healthbench),
    ("llm-rubric-dialogues", dialogues::llm_rubric),
    ("llmbar", llmbar::llmbar),
    ("rewardbench2-k8", rewardbench::rewardbench),
    ("prometheus-gpt4-triple", prometheus::prometheus),
    ("promptfoo-configs", promptfoo::promptfoo),
    ("biggen-rubrics", biggen::biggen),
];

/// Resamples: intervals are not among the figures that are published, so a few will do.
const QUICK: [&str; 2] = ["--resamples", "20"];

/// The folders of all data sets.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    DATASETS.iter().map(|(name, _)| *name)
}

/// Computes the figures of a data set and fails if one differs.
pub(crate) fn check(name: &str, shared: &SharedFolder) -> Result<(), String> {
    let (_, compute) =
        DATASETS.iter().find(|(known, _)| *known == name).ok_or_else(|| format!("no data set `{name}`"))?;
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let run = DatasetRun { program: program::built()?, source: shared.path("data"), folder };

    let mut table = FigureTable::default();
    compute(&run, &mut table)?;

    table.finish()
}

/// The program, the data and a folder for what is converted.
struct DatasetRun {
    program: PathBuf,
    source: PathBuf,
    folder: TempDir,
}

impl DatasetRun {
    fn file(&self, name: &str) -> PathBuf {
        self.source.join(name)
    }

    /// The text of a file of the data.
    fn text(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.file(name)).map_err(|error| format!("{name}: {error}"))
    }

    /// Writes rows as JSON lines for a command to read.
    fn write(&self, name: &str, rows: &[Value]) -> Result<PathBuf, String> {
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        self.write_text(name, &(lines.join("\n") + "\n"))
    }

    /// Writes a file for a command to read.
    fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// Runs a command and returns what it prints with `--json`.
    fn run(&self, command: &str, file: &Path, arguments: &[&str]) -> Result<Value, String> {
        self.ends(&[0], command, file, arguments)
    }

    /// Runs a command that must end with one of these exit codes and returns what it prints with `--json`.
    fn ends(&self, codes: &[i32], command: &str, file: &Path, arguments: &[&str]) -> Result<Value, String> {
        let output = self.command(command, file, arguments)?;
        if !output.status.code().is_some_and(|code| codes.contains(&code)) {
            return Err(format!("assize {command}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("assize {command}: {error}"))
    }

    /// Runs a command that must refuse its input and returns its diagnostics.
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
            .current_dir(self.folder.path())
            .env_clear()
            .stdin(Stdio::null());
        line.output().map_err(|error| format!("can't start {}: {error}", self.program.display()))
    }
}

/// The first object of a list whose keys have these values.
fn find<'v>(list: &'v Value, keys: &[(&str, &str)]) -> &'v Value {
    items(list)
        .iter()
        .find(|object| keys.iter().all(|(key, wanted)| object[*key] == *wanted))
        .unwrap_or(&Value::Null)
}
