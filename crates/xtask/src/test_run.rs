//! `cargo xtask test`: builds every test program with all features, and runs several of them at once.
//!
//! `cargo test` runs one program after another, so a program whose tests wait for servers and browsers keeps the processors idle.
//! Here the programs that wait longest begin first, and others run beside them. At the end come the slowest tests, everything that was
//! skipped, and one line with the totals.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;

use xtask::shell;
use xtask::workspace_build::{TestProgram, WorkspaceBuild};

/// Programs whose tests wait for other processes, which begin first.
const WAITING: &[&str] = &["cluster", "browser", "it"];

/// Tests that are allowed to take longer than [`SLOW`]: one per line, with the reason after a tab. A name with `::` at
/// its end is a module.
const SLOW_FOR_A_REASON: &str = include_str!("slow_tests.tsv");

/// A test that takes longer than this needs a reason.
const SLOW: Duration = Duration::from_secs(15);

/// How many of the slowest tests are listed.
const LISTED: usize = 20;

/// One finished test.
#[derive(Debug, Clone, PartialEq)]
struct FinishedTest {
    program: String,
    name: String,
    outcome: Outcome,
    time: Duration,
    /// What it printed, if it failed.
    output: String,
}

impl FinishedTest {
    /// Whether this is its name, or that of a module around it, with `::` at the end.
    fn is(&self, name: &str) -> bool {
        self.name == name || name.ends_with("::") && self.name.starts_with(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Ignored,
}

/// Something that happened in a test program.
enum Event {
    Test(FinishedTest),
    /// A line that is not an event of the test harness.
    Line(String),
    /// The program ended by itself, after this time, and with an error that no test accounts for.
    Ended {
        program: String,
        time: Duration,
        error: Option<String>,
    },
}

/// What a run of all tests came to.
#[derive(Debug, Default)]
pub(crate) struct TestReport {
    programs: usize,
    tests: Vec<FinishedTest>,
    /// Lines in which tests report skipped parts.
    skipped: Vec<String>,
    /// Programs that ended in a way that no test accounts for.
    errors: Vec<String>,
    /// Tests that failed and passed when they ran again, alone.
    flaky: Vec<String>,
}

/// Runs the tests whose names contain the filter, of the programs whose names contain it if `in_program` is given.
pub(crate) fn run(program: Option<&str>, filter: Option<&str>) -> Result<TestReport, String> {
    let mut programs = build()?;
    if let Some(part) = program {
        programs.retain(|program| program.name.split(' ').any(|word| word == part));
        if programs.is_empty() {
            return Err(format!("no test program is called `{part}`"));
        }
    }
    let mut report = run_programs(programs.clone(), filter);
    if program.is_none() && filter.is_none() {
        report.find_stale_reasons();
    }
    report.run_failed_again(&programs);
    Ok(report)
}

/// Prints a report. Fails if a test failed.
pub(crate) fn print(report: &TestReport) -> Result<(), String> {
    for line in report.lines() {
        println!("{line}");
    }
    if report.is_ok() { Ok(()) } else { Err("tests failed".to_owned()) }
}

/// Builds the test programs and lists them, those that wait for others first.
fn build() -> Result<Vec<TestProgram>, String> {
    let mut programs = WorkspaceBuild::make()?.test_programs();
    programs.sort_by_key(|program| (waiting_place(program).unwrap_or(WAITING.len()), program.name.clone()));
    if programs.is_empty() { Err("cargo built no test program".to_owned()) } else { Ok(programs) }
}

/// The place of a program in [`WAITING`].
fn waiting_place(program: &TestProgram) -> Option<usize> {
    let target = program.name.strip_prefix("assize ")?;
    WAITING.iter().position(|waiting| *waiting == target)
}

/// Runs the programs, a few at a time.
fn run_programs(programs: Vec<TestProgram>, filter: Option<&str>) -> TestReport {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    // A program that waits for servers leaves its processor to another one.
    let at_once = processors + 1;
    let mut report = TestReport { programs: programs.len(), ..TestReport::default() };
    let waiting = Mutex::new(programs.into_iter());

    let path = search_path();
    std::thread::scope(|scope| {
        let (sender, events) = mpsc::channel();
        for _ in 0..at_once {
            let (sender, waiting, path) = (sender.clone(), &waiting, path.as_ref());
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().ok().and_then(|mut programs| programs.next());
                    let Some(program) = next else { break };
                    let is_waiting = waiting_place(&program).is_some();
                    let threads = if is_waiting { 2 * processors } else { processors };
                    let begun = Instant::now();
                    let error = follow(&program, filter, threads, path, &sender).err();
                    let ended = Event::Ended { program: program.name, time: begun.elapsed(), error };
                    // The receiver outlives every sender.
                    let _ = sender.send(ended);
                }
            });
        }
        drop(sender);
        for event in events {
            report.add(event);
        }
    });
    report
}

/// The search path of the tests, with the folder of the Python interpreter in front. A version manager has a shell
/// script instead of the interpreter, which takes longer to start.
#[expect(clippy::disallowed_methods, reason = "the tests get the environment of this program")]
fn search_path() -> Option<OsString> {
    let script = "import os, sys; print(os.path.dirname(sys.executable))";
    let folder = shell::output(shell::program("python3").args(["-c", script])).ok()?;
    let path = std::env::var_os("PATH")?;
    let folders = std::iter::once(PathBuf::from(folder.trim())).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).ok()
}

/// Runs a program and sends the events of its tests. Fails if it ended with an error although no test failed.
fn follow(
    program: &TestProgram,
    filter: Option<&str>,
    threads: usize,
    path: Option<&OsString>,
    events: &Sender<Event>,
) -> Result<(), String> {
    let mut command = Command::new(&program.executable);
    // Events with times are not stable yet; the harness takes them from a program of a stable compiler if this is set.
    command.env("RUSTC_BOOTSTRAP", "1");
    command.args(["-Zunstable-options", "--format=json", "--report-time"]);
    command.arg(format!("--test-threads={threads}")).args(filter);
    command.current_dir(&program.folder).stdin(Stdio::null()).stdout(Stdio::piped());
    if let Some(path) = path {
        command.env("PATH", path);
    }

    let mut child = command.spawn().map_err(|error| format!("can't be started: {error}"))?;
    let mut has_failures = false;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|error| format!("its output can't be read: {error}"))?;
            let line = String::from_utf8_lossy(&line).into_owned();
            let event = match finished_test(&program.name, &line) {
                Some(test) => {
                    has_failures |= test.outcome == Outcome::Failed;
                    Event::Test(test)
                }
                None => Event::Line(line),
            };
            // The receiver outlives every sender.
            let _ = events.send(event);
        }
    }

    let status = child.wait().map_err(|error| format!("can't be waited for: {error}"))?;
    if status.success() || has_failures { Ok(()) } else { Err(format!("ended with {status}")) }
}

/// Reads an event of the test harness that ends a test.
fn finished_test(program: &str, line: &str) -> Option<FinishedTest> {
    let event: Value = serde_json::from_str(line).ok()?;
    let outcome = match (event["type"].as_str()?, event["event"].as_str()?) {
        ("test", "ok") => Outcome::Passed,
        ("test", "failed") => Outcome::Failed,
        ("test", "ignored") => Outcome::Ignored,
        _ => return None,
    };
    let seconds = event["exec_time"].as_f64().unwrap_or_default();
    Some(FinishedTest {
        program: program.to_owned(),
        name: event["name"].as_str()?.to_owned(),
        outcome,
        time: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
        output: event["stdout"].as_str().unwrap_or_default().to_owned(),
    })
}

/// The tests of [`SLOW_FOR_A_REASON`], with their reasons.
fn slow_for_a_reason() -> impl Iterator<Item = (&'static str, &'static str)> {
    SLOW_FOR_A_REASON.lines().filter_map(|line| line.split_once('\t'))
}

impl TestReport {
    /// A reason in [`SLOW_FOR_A_REASON`] whose test is gone is an error.
    fn find_stale_reasons(&mut self) {
        for (name, _) in slow_for_a_reason() {
            if !self.tests.iter().any(|test| test.is(name)) {
                self.errors.push(format!("xtask: there is no test `{name}`, which has a reason to be slow"));
            }
        }
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Test(test) => {
                if test.outcome == Outcome::Failed {
                    println!("FAILED {} {}\n{}", test.program, test.name, test.output);
                }
                self.tests.push(test);
            }
            Event::Line(line) if line.starts_with("SKIPPED ") => self.skipped.push(line),
            Event::Line(line) => {
                if !line.trim().is_empty() && !line.starts_with("{ \"type\":") {
                    println!("{line}");
                }
            }
            Event::Ended { program, time, error } => {
                let of_program = |outcome| {
                    self.tests
                        .iter()
                        .filter(|test| test.program == program && test.outcome == outcome)
                        .count()
                };
                let (passed, failed) = (of_program(Outcome::Passed), of_program(Outcome::Failed));
                println!("{program}: {passed} passed, {failed} failed ({:.1} s)", time.as_secs_f64());
                if let Some(error) = error {
                    self.errors.push(format!("{program}: {error}"));
                }
            }
        }
    }

    /// Runs each failed test again, alone. A test that passes then depends on the load of the machine: it counts as
    /// passed and is listed as flaky.
    fn run_failed_again(&mut self, programs: &[TestProgram]) {
        for test in self.tests.iter_mut().filter(|test| test.outcome == Outcome::Failed) {
            let Some(program) = programs.iter().find(|program| program.name == test.program) else {
                continue;
            };
            let mut again = Command::new(&program.executable);
            again.args(["--exact", &test.name]).current_dir(&program.folder).stdin(Stdio::null());
            println!("\n==> again: {} {}", test.program, test.name);
            if again.status().is_ok_and(|status| status.success()) {
                test.outcome = Outcome::Passed;
                self.flaky.push(format!("FLAKY {} {}: failed, and passed alone", test.program, test.name));
            }
        }
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.tests.iter().filter(|test| test.outcome == outcome).count()
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.errors.is_empty() && self.count(Outcome::Failed) == 0 && self.count(Outcome::Passed) > 0
    }

    /// The slowest tests, skipped parts and failures, and the totals.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut by_time: Vec<&FinishedTest> = self.tests.iter().collect();
        by_time.sort_by_key(|test| std::cmp::Reverse(test.time));

        let mut lines = vec![format!("slowest {LISTED} tests:")];
        for test in by_time.iter().take(LISTED) {
            let reason = slow_for_a_reason().find(|(name, _)| test.is(name));
            let reason = match reason {
                Some((_, reason)) => format!(": {reason}"),
                None if test.time > SLOW => format!(": over {} s without a reason", SLOW.as_secs()),
                None => String::new(),
            };
            lines.push(format!(
                "  {:5.1} s  {} {}{reason}",
                test.time.as_secs_f64(),
                test.program,
                test.name
            ));
        }

        let mut counted: BTreeMap<&String, usize> = BTreeMap::new();
        for line in &self.skipped {
            *counted.entry(line).or_default() += 1;
        }
        lines.extend(counted.into_iter().map(|(line, count)| match count {
            1 => line.clone(),
            _ => format!("{line} ({count} times)"),
        }));
        lines.extend(self.flaky.iter().cloned());
        let failed = self.tests.iter().filter(|test| test.outcome == Outcome::Failed);
        lines.extend(failed.map(|test| format!("FAILED {} {}", test.program, test.name)));
        lines.extend(self.errors.iter().map(|error| format!("FAILED {error}")));
        lines.push(format!(
            "test result: {}. {} passed; {} failed; {} ignored ({} test programs)",
            if self.is_ok() { "ok" } else { "FAILED" },
            self.count(Outcome::Passed),
            self.count(Outcome::Failed) + self.errors.len(),
            self.count(Outcome::Ignored),
            self.programs,
        ));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: &[&str]) -> TestReport {
        let mut report = TestReport { programs: 1, ..TestReport::default() };
        for line in lines {
            report.add(match finished_test("p", line) {
                Some(test) => Event::Test(test),
                None => Event::Line((*line).to_owned()),
            });
        }
        report
    }

    #[test]
    fn events_of_the_harness_are_added_up() {
        let passed = r#"{ "type": "test", "name": "a", "event": "ok", "exec_time": 1.5 }"#;
        let ignored = r#"{ "type": "test", "name": "c", "event": "ignored" }"#;
        let skipped = "SKIPPED 1 test: no browser";
        let ok = report(&[
            passed,
            ignored,
            skipped,
            skipped,
            r#"{ "type": "test", "event": "started", "name": "d" }"#,
        ]);
        let lines = ok.lines();
        assert!(ok.is_ok());
        assert_eq!(lines[1], "    1.5 s  p a");
        assert!(lines.contains(&"SKIPPED 1 test: no browser (2 times)".to_owned()));
        assert_eq!(
            lines.last().map(String::as_str),
            Some("test result: ok. 1 passed; 0 failed; 1 ignored (1 test programs)")
        );

        let failed =
            report(&[passed, r#"{ "type": "test", "name": "b", "event": "failed", "stdout": "why" }"#]);
        assert!(!failed.is_ok());
        assert!(failed.lines().contains(&"FAILED p b".to_owned()));
        assert!(!report(&[]).is_ok(), "a run without tests has tested nothing");
    }

    #[test]
    fn slow_tests_need_a_reason() {
        let slow = report(&[r#"{ "type": "test", "name": "a", "event": "ok", "exec_time": 15.5 }"#]);
        assert!(slow.lines()[1].ends_with("over 15 s without a reason"));
    }
}
