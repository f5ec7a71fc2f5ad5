//! `cargo xtask check`: all the checks that a change must pass before it is merged, as a sequence of steps.

use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::python::PythonOutcome;
use crate::wheel::WheelOutcome;
use crate::{
    generate, layers, python, repo_lints, report_readers, shell, static_program, tools, wheel, words,
};

/// Outcome of a step that did not fail.
enum StepOutcome {
    Passed,
    /// Nothing was checked, for this reason.
    Skipped(String),
    /// Everything that could be tested passed. Holds lines for the summary.
    Tested(Vec<String>),
}

type StepResult = Result<StepOutcome, String>;
type StepFn = fn() -> StepResult;

/// The steps, cheap ones first. The generated pages come after the tests because they use the program that the
/// tests build.
const STEPS: &[(&str, StepFn)] = &[
    ("format", format),
    ("layers", || passed(layers::run())),
    ("repository lints", || passed(repo_lints::run())),
    ("words", || passed(words::run(false))),
    ("clippy", clippy),
    ("static programs", || passed(static_program::run())),
    ("documentation builds", documentation),
    ("tests", tests),
    ("generated pages are current", || {
        passed(generate::run(generate::Mode::Check, generate::Build::WithTests))
    }),
    ("site of the documentation", site),
    ("Python library", python_library),
    ("readers of reports", report_readers),
    ("wheel for Python", python_wheel),
    ("release packages", packages),
    ("results in buckets", buckets),
    ("cargo-deny", || subcommand("cargo-deny", "0.20.2", &["check", "licenses", "bans", "sources"])),
    ("cargo-machete", || subcommand("cargo-machete", "0.9.2", &[])),
];

/// Runs every step, even after one failed, and fails if any step did.
pub(crate) fn run() -> Result<(), String> {
    let begun = Instant::now();
    let (mut count_passed, mut failed, mut skipped) = (0, Vec::new(), Vec::new());
    let mut summary = Vec::new();

    for (index, (name, step)) in STEPS.iter().enumerate() {
        println!("\n==> {}/{} {name}", index + 1, STEPS.len());
        let begun = Instant::now();

        match step() {
            Ok(StepOutcome::Skipped(why)) => {
                println!("SKIPPED: {name}: {why}");
                skipped.push(format!("SKIPPED step {name}: {why}"));
                continue;
            }
            Ok(StepOutcome::Tested(lines)) => summary.extend(lines),
            Ok(StepOutcome::Passed) => {}
            Err(message) => {
                println!("{message}\nFAILED: {name}");
                failed.push(format!("FAILED step {name}: {message}"));
                continue;
            }
        }

        count_passed += 1;
        println!("ok: {name} ({:.1} s)", begun.elapsed().as_secs_f64());
    }

    println!("\n==> summary");

    for line in summary.iter().chain(&skipped).chain(&failed) {
        println!("{line}");
    }

    let counts = format!(
        "steps: {count_passed} passed, {} failed, {} skipped ({:.0} s)",
        failed.len(),
        skipped.len(),
        begun.elapsed().as_secs_f64()
    );
    if failed.is_empty() {
        println!("{counts}");
        return Ok(());
    }

    Err(counts)
}

fn passed(result: Result<(), String>) -> StepResult {
    result.map(|()| StepOutcome::Passed)
}

fn format() -> StepResult {
    let color = if std::io::stdout().is_terminal() { "always" } else { "never" };
    let formatted = shell::run(&mut shell::cargo(&["fmt", "--all", "--check", "--", "--color", color]));
    passed(formatted.map_err(|error| format!("{error}; `cargo fmt --all` puts it in order")))
}

/// Runs clippy on all code, including the feature `cloud`. The tests compile the workspace without it, except
/// those of buckets.
fn clippy() -> StepResult {
    let mut command = shell::cargo(&["clippy", "--workspace", "--all-targets", "--features", "assize/cloud"]);
    passed(shell::run(command.args(["--quiet", "--", "-D", "warnings"])))
}

fn documentation() -> StepResult {
    let mut command = shell::cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    passed(shell::run(command.env("RUSTDOCFLAGS", "-D warnings")))
}

/// Builds the site of `docs/` into `target/book`. The links are checked by the repository lints.
fn site() -> StepResult {
    let mdbook = match tools::from_crate("mdbook", "0.5.4") {
        Ok(path) => path,
        Err(why) => return Ok(StepOutcome::Skipped(why)),
    };

    let output = Command::new(mdbook).arg("build").current_dir(shell::root()).output();
    let output = output.map_err(|error| format!("can't start `mdbook build`: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    print!("{log}");

    // To mdBook, a missing page or an unreadable link is only a warning.
    if output.status.success() && !log.contains("WARN") {
        return Ok(StepOutcome::Passed);
    }
    Err(format!("`mdbook build` failed or warned ({})", output.status))
}

/// Builds the Python library with the profile of the tests, and runs its tests.
fn python_library() -> StepResult {
    match python::run("dev")? {
        PythonOutcome::Skipped(why) => Ok(StepOutcome::Skipped(why)),
        PythonOutcome::Works => Ok(StepOutcome::Passed),
    }
}

/// Reads reports with the programs and schemas of other tools.
fn report_readers() -> StepResult {
    match report_readers::run()? {
        Err(why) => Ok(StepOutcome::Skipped(why)),
        Ok(()) => Ok(StepOutcome::Passed),
    }
}

/// Builds the wheel with the profile of the tests, to reuse their build artefacts.
fn python_wheel() -> StepResult {
    match wheel::run("dev")? {
        WheelOutcome::Skipped(why) => Ok(StepOutcome::Skipped(why)),
        WheelOutcome::Works(_, skipped) => {
            for why in skipped {
                println!("SKIPPED: {why}");
            }
            Ok(StepOutcome::Passed)
        }
    }
}

/// Tests the parts of a release, with the program that the tests built.
fn packages() -> StepResult {
    if shell::output(shell::program("bash").arg("--version")).is_err() {
        return Ok(StepOutcome::Skipped("bash is not installed".to_owned()));
    }

    let program = generate::program(generate::Build::WithTests)?;
    let mut test = shell::program("bash");
    // Without pre-commit, the script reports the tests it skips.
    if let Ok(pre_commit) = tools::from_python("pre-commit") {
        test.env("ASSIZE_PRE_COMMIT", pre_commit);
    }
    let printed = shell::output(test.arg("packaging/test.sh").arg(program))?;
    print!("{printed}");
    Ok(StepOutcome::Tested(
        printed.lines().filter(|line| line.starts_with("SKIPPED ")).map(str::to_owned).collect(),
    ))
}

/// Runs the tests of `eval --cluster` with results in buckets, with the feature `cloud` and with servers from
/// PyPI and npm. This step is late in the list because it builds the program again with that feature.
fn buckets() -> StepResult {
    let cloud = ["--features", "cloud"];
    let tests: [&[&str]; 2] =
        [&["-p", "assize-cluster", "--test", "buckets"], &["-p", "assize", "--test", "cluster", "buckets::"]];
    let mut summary = Vec::new();
    let mut is_ok = true;
    for test in tests {
        let run = TestRun::start(&[&cloud[..], test].concat())?;
        is_ok &= run.is_ok;
        summary.push(format!("{} of {}", run.total.line(run.is_ok), test[1]));
        summary.extend(run.skipped);
        summary.extend(run.failures.iter().map(|failure| format!("FAILED {failure}")));
    }

    if is_ok { Ok(StepOutcome::Tested(summary)) } else { Err(summary.join("\n")) }
}

/// Runs all tests and adds up the results that their binaries print.
///
/// Failed targets are run a second time on their own. A target that then passes is reported as `FLAKY` in the
/// summary, since its first result depended on what else the machine was doing. A target that fails again fails
/// the step.
fn tests() -> StepResult {
    let run = TestRun::start(&["--workspace"])?;
    let line = run.total.line(run.is_ok);
    let mut summary = vec![line.clone()];
    summary.extend(run.skipped);
    if run.is_ok {
        return Ok(StepOutcome::Tested(summary));
    }

    // Without a list of failed targets nothing ran: the tests don't compile.
    if run.failed_targets.is_empty() {
        return Err(line);
    }

    let mut failed = run.failures.iter().map(|failure| format!("FAILED {failure}")).collect::<Vec<_>>();
    let mut is_ok = true;
    for target in &run.failed_targets {
        println!("\n==> again: {target}");
        let again = TestRun::start(&target.split(' ').collect::<Vec<_>>())?;
        if again.is_ok {
            summary.push(format!("FLAKY {target}: failed, and passed when it was run again"));
        } else {
            is_ok = false;
            failed.extend(again.failures.iter().map(|failure| format!("FAILED AGAIN {target} {failure}")));
        }
    }

    summary.extend(failed);
    if is_ok { Ok(StepOutcome::Tested(summary)) } else { Err(summary.join("\n")) }
}

/// Results of one `cargo test`.
#[derive(Default)]
struct TestRun {
    is_ok: bool,
    total: TestTotal,
    /// Lines in which tests report what they skipped.
    skipped: Vec<String>,
    /// The name of each failed test with the beginning of its output.
    failures: Vec<String>,
    is_in_failure: bool,
    /// Arguments for cargo to run each failed target, such as `-p assize --test docs`.
    failed_targets: Vec<String>,
}

impl TestRun {
    fn start(selection: &[&str]) -> Result<Self, String> {
        let mut command = shell::cargo(&["test", "--no-fail-fast"]);
        command.args(selection).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("can't start the tests: {error}"))?;

        // Cargo lists the failed targets on stderr; everything else is on stdout.
        let stderr = child.stderr.take();
        let targets = std::thread::spawn(move || {
            let lines =
                stderr.into_iter().flat_map(|stream| BufReader::new(stream).lines().map_while(Result::ok));
            let mut targets = Vec::new();
            for line in lines {
                println!("{line}");
                targets.extend(failed_target(&line));
            }
            targets
        });

        let mut run = Self::default();
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines() {
                let line = line.map_err(|error| format!("the tests can't be read: {error}"))?;
                println!("{line}");
                run.add(&line);
            }
        }

        run.is_ok =
            child.wait().map_err(|error| format!("the tests can't be waited for: {error}"))?.success();
        run.failed_targets =
            targets.join().map_err(|_| "the errors of the tests can't be read".to_owned())?;
        Ok(run)
    }

    fn add(&mut self, line: &str) {
        /// Characters of a failed test's output that the summary repeats.
        const MAX_SHOWN_CHARS: usize = 600;

        self.total.add(line);
        if line.starts_with("SKIPPED ") {
            self.skipped.push(line.to_owned());
        }

        // `---- NAME stdout ----` starts the output of a failed test.
        if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----")) {
            self.failures.push(format!("{}:", name.trim_end_matches(" stdout")));
            self.is_in_failure = true;
        } else if line == "failures:" || line.starts_with("test result: ") {
            self.is_in_failure = false;
        }
        // All lines after that heading belong to the failure, up to the maximum for the summary.
        else if self.is_in_failure
            && let Some(failure) = self.failures.last_mut()
            && failure.len() < MAX_SHOWN_CHARS
        {
            failure.push('\n');
            failure.extend(line.chars().take(MAX_SHOWN_CHARS));
        }
    }
}

/// The target in a line such as ``    `-p assize --test docs` `` of cargo's list of failed targets.
fn failed_target(line: &str) -> Option<String> {
    let target = line.trim().strip_prefix('`')?.strip_suffix('`')?;
    target.starts_with("-p ").then(|| target.to_owned())
}

/// Sum of the results of all test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
struct TestTotal {
    binaries: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl TestTotal {
    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; ...`. Other lines are ignored.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        let count = |what: &str| {
            let words = result.split([' ', ';']).collect::<Vec<_>>();
            let at = words.iter().position(|word| *word == what)?;
            words.get(at.checked_sub(1)?)?.parse::<usize>().ok()
        };

        self.binaries += 1;
        self.passed += count("passed").unwrap_or_default();
        self.failed += count("failed").unwrap_or_default();

        self.ignored += count("ignored").unwrap_or_default();
    }

    fn line(&self, is_ok: bool) -> String {
        let Self { binaries, passed, failed, ignored } = self;
        let result = if is_ok { "ok" } else { "FAILED" };
        format!(
            "test result: {result}. {passed} passed; {failed} failed; {ignored} ignored ({binaries} test binaries)"
        )
    }
}

/// Runs a cargo subcommand that is a separate program.
fn subcommand(name: &str, version: &str, arguments: &[&str]) -> StepResult {
    match tools::from_crate(name, version) {
        Ok(path) => passed(shell::run(Command::new(path).args(arguments).current_dir(shell::root()))),
        Err(why) => Ok(StepOutcome::Skipped(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_test_binaries_are_added_up() {
        let mut total = TestTotal::default();
        for line in [
            "running 3 tests",
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 10 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s",
        ] {
            total.add(line);
        }
        assert_eq!(total, TestTotal { binaries: 2, passed: 12, failed: 4, ignored: 1 });
        assert_eq!(
            total.line(false),
            "test result: FAILED. 12 passed; 4 failed; 1 ignored (2 test binaries)"
        );
    }

    #[test]
    fn failed_tests_are_named_with_what_they_printed() {
        let mut run = TestRun::default();
        for line in [
            "test a::works ... ok",
            "test a::breaks ... FAILED",
            "",
            "failures:",
            "",
            "---- a::breaks stdout ----",
            "thread 'a::breaks' panicked at src/a.rs:7:5:",
            "left: 1",
            "failures:",
            "    a::breaks",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        ] {
            run.add(line);
        }

        let printed = "a::breaks:\nthread 'a::breaks' panicked at src/a.rs:7:5:\nleft: 1";
        assert_eq!(run.failures, [printed]);

        assert_eq!(failed_target("    `-p assize --test docs`").as_deref(), Some("-p assize --test docs"));
        assert_eq!(failed_target("error: 1 target failed:"), None);
        assert_eq!(failed_target("   Doc-tests assize"), None);
    }
}
