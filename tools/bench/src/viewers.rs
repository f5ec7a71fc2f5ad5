//! `assize view` in Chromium, compared with the viewers of other tools on the same cases.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{ProgramUnderTest, data, table};
use crate::cargo;
use crate::table::FigureTable;

/// Versions of packages installed for a measurement.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
const INSPECT: &str = "inspect-ai==0.3.285";
const PROMPTFOO: &str = "promptfoo@0.121.20";
/// Names of Chromium.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Number of starts of each viewer; the median counts.
const ROUNDS: &str = "3";
/// Time limit for importing cases into promptfoo, in seconds.
const IMPORT_LIMIT: &str = "1800";

/// Columns of a measurement, with the script's names for them.
const TIMES: [(&str, &str); 7] = [
    ("painted", "command to painted rows"),
    ("filter", "filter"),
    ("sort", "sort by id"),
    ("last", "last row"),
    ("search", "text search"),
    ("case", "a case"),
    ("memory", "memory of the server"),
];

impl ProgramUnderTest {
    /// Measures the viewers on a run of this many cases.
    pub(super) fn viewers(&self, cases: usize) -> Result<FigureTable, String> {
        let run = self.large_run(cases)?;
        let modules = self.folder.join("viewers");
        std::fs::create_dir_all(&modules).map_err(|error| format!("{}: {error}", modules.display()))?;
        quietly(
            Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", PLAYWRIGHT])
                .current_dir(&modules),
        )?;

        let title = format!("Viewers: {} cases, four criteria each", table::count(cases));
        let columns: Vec<&str> = std::iter::once("viewer").chain(TIMES.map(|(_, title)| title)).collect();
        let mut table = FigureTable::new(&title, &columns);
        let program = self.program.display().to_string();
        let own = Self::measure(
            &modules,
            "assize",
            &self.folder,
            &[&program, "view", &run, "--no-open", "--port", "0"],
        )?;
        row(&mut table, "`assize view`", Ok(&own));

        let script = script("peers.py");
        let forms = Command::new("python3").arg(script).arg(self.folder.join(&run)).arg(&modules).status();
        if !forms.is_ok_and(|status| status.success()) {
            return Err("python3 can't write the run in other forms".to_owned());
        }
        row(&mut table, "`inspect view`", Self::inspect(&modules).as_ref().map_err(String::as_str));
        row(&mut table, "promptfoo", Self::promptfoo(&modules).as_ref().map_err(String::as_str));

        Ok(table)
    }

    /// Creates a run with long answers; returns its folder relative to the folder of all files.
    fn large_run(&self, cases: usize) -> Result<String, String> {
        let run = ".assize/runs/large".to_owned();
        self.file("rubric.yaml", data::RUBRIC)?;
        self.file("answers.jsonl", &data::long_answers(cases))?;
        let arguments = [
            "grade", "rubric.yaml", "--answers", "answers.jsonl", "--judge", "offline", "--quiet", "--show",
            "none", "--run-dir", &run,
        ];
        crate::measure::once(&mut self.command(&arguments))?;
        self.is_complete(&run, cases)?;
        Ok(run)
    }

    fn inspect(modules: &Path) -> Result<Value, String> {
        let venv = modules.join("inspect");
        quietly(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        quietly(Command::new(venv.join("bin/pip")).args(["install", "--quiet", INSPECT]))?;
        let program = venv.join("bin/inspect").display().to_string();
        let logs = modules.join("logs").display().to_string();
        let arguments =
            [&*program, "view", "start", "--log-dir", &logs, "--host", "127.0.0.1", "--port", "PORT"];
        Self::measure(modules, "inspect", modules, &arguments)
    }

    fn promptfoo(modules: &Path) -> Result<Value, String> {
        let folder = modules.join("promptfoo");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        quietly(
            // Without `--prefix`, npm would install into the parent folder, which has a package list.
            Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--prefix", ".", PROMPTFOO])
                .current_dir(&folder),
        )?;

        let program = folder.join("node_modules/.bin/promptfoo");
        let import = Command::new("timeout")
            .arg(IMPORT_LIMIT)
            .arg(&program)
            .arg("import")
            .arg(modules.join("promptfoo.json"))
            .current_dir(&folder)
            .envs(PROMPTFOO_SETTINGS)
            .env("PROMPTFOO_CONFIG_DIR", &folder)
            .status();
        // `timeout` exits with 124 if it ended the program.
        match import {
            Ok(status) if status.success() => {}
            Ok(status) if status.code() == Some(124) => {
                return Err(format!("did not import the cases within {IMPORT_LIMIT} s"));
            }
            _ => return Err("its import of the cases failed".to_owned()),
        }

        let program = program.display().to_string();
        Self::measure(modules, "promptfoo", &folder, &[&program, "view", "--no", "--port", "PORT"])
    }

    /// Runs the script with a viewer.
    fn measure(modules: &Path, tool: &str, folder: &Path, command: &[&str]) -> Result<Value, String> {
        let chromium = BROWSERS.iter().find(|name| found(name)).ok_or("there is no Chromium")?;
        let output = Command::new("node")
            .arg(script("measure.mjs"))
            .args([tool, ROUNDS])
            .arg(folder)
            .args(command)
            .env("BENCH_MODULES", modules)
            .env("CHROMIUM", format!("/usr/bin/{chromium}"))
            .envs(PROMPTFOO_SETTINGS)
            .env("PROMPTFOO_CONFIG_DIR", modules.join("promptfoo"))
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("node can't be started: {error}"))?;
        serde_json::from_slice(&output.stdout).map_err(|_| format!("{tool} was not measured"))
    }
}

const PROMPTFOO_SETTINGS: [(&str, &str); 2] =
    [("PROMPTFOO_DISABLE_TELEMETRY", "1"), ("PROMPTFOO_DISABLE_UPDATE", "1")];

fn script(name: &str) -> PathBuf {
    cargo::root().join("tools/bench/view").join(name)
}

fn found(program: &str) -> bool {
    Path::new("/usr/bin").join(program).is_file()
}

fn quietly(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} failed ({status})")),
        Err(error) => Err(format!("{shown} can't be started: {error}")),
    }
}

/// Row of a viewer. Cells that the script did not measure stay empty.
fn row(table: &mut FigureTable, name: &str, measured: Result<&Value, &str>) {
    let cells = TIMES.map(|(key, _)| match (measured, key) {
        (Err(reason), "painted") => reason.to_owned(),
        (Err(_), _) => String::new(),
        (Ok(values), "memory") => table::memory(values[key].as_u64()),
        (Ok(values), _) => values[key]
            .as_f64()
            .map_or_else(String::new, |ms| table::time(std::time::Duration::from_secs_f64(ms / 1e3))),
    });
    let [painted, filter, sort, last, search, case, memory] = cells;
    table.row([name, &painted, &filter, &sort, &last, &search, &case, &memory]);
}
