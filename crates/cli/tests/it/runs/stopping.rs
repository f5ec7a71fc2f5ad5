//! Runs that end once their result is clear, and comparisons of runs in progress.

use std::fmt::Write as _;
use std::process::Stdio;

use assize_testkit::cli::{CliOutput, CliTest};
use serde_json::Value;

use crate::runs::support::{printed, rows};

const N: usize = 150;

fn cli() -> CliTest {
    CliTest::new(env!("CARGO_BIN_EXE_assize"))
}

/// Cases with given answers; `passes` says which of them pass.
fn suite(passes: impl Fn(usize) -> bool, word: &str) -> String {
    (0..N).fold("name: s\ntests:\n".to_owned(), |mut text, at| {
        let answer = if passes(at) { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "- {{id: c{at}, criteria: c, input: i{at}, output: '{answer}', assertions: [{{type: contains, value: {word}}}]}}"
        );
        text
    })
}

fn stop(cli: &CliTest, against: &str) -> CliOutput {
    let _ = std::fs::remove_dir_all(cli.path("run"));
    cli.run(&[
        "eval", "s.yaml", "--run-dir", "run", "--json", "-j", "2", "--stop-when", "decided", "--against",
        against, "--shuffle", "--seed", "4",
    ])
}

#[test]
fn a_run_ends_once_its_pass_rate_is_clear_and_says_so_everywhere() {
    let cli = cli();
    cli.file("s.yaml", suite(|at| at % 20 != 7, "'yes'"));
    let output = stop(&cli, "0.6");
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    let found = printed(&output);
    let stopped = &found["early_stop"];
    assert_eq!((&stopped["metric"], &stopped["conclusion"]), (&"pass_rate".into(), &"above".into()));
    let run = rows(&cli, "run/results.jsonl").len();
    assert!(run < N && stopped["saved"] == N - run && found["not_run"] == N - run, "{stopped}");
    let low = stopped["result"]["low"].as_f64().expect("a number");
    assert!((0.6..1.0).contains(&low), "{stopped}");

    // The interval for a fixed number of cases is not shown.
    let rate = &found["metrics"]["pass_rate"];
    assert_eq!(rate["method"], "confidence sequence, betting");
    assert_eq!(rate["low"], stopped["pass_rate"]["low"]);
    let report = cli.run(&["report", "run", "--format", "markdown"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    assert!(
        report.stdout.contains(&format!("{} more without a result", N - run))
            && !report.stdout.contains("Wilson"),
        "{}",
        report.stdout
    );
    let score = cli.run(&["score", "run"]);
    assert!(score.stdout.contains("Stopped early, clearly above the reference"), "{}", score.stdout);
    // None of the cases that ran failed, and the others did not run.
    assert_eq!(score.code, Some(3), "{}", score.stdout);
    let compared = cli.run(&["compare", "run", "run"]);
    assert!(compared.stderr.contains("stopped because its result was clear"), "{}", compared.stderr);
    // Only the interval that is valid at any time is shown, and no test.
    let said = &compared.stdout;
    assert!(said.contains("CI by confidence sequence (betting), no p") && !said.contains("p by"), "{said}");

    // Without the rule, the remaining cases are run, and the early stop leaves no trace.
    let rest = cli.run(&["eval", "s.yaml", "--run-dir", "run", "--resume", "--json", "-q"]);
    assert_eq!((rest.code, rows(&cli, "run/results.jsonl").len()), (Some(1), N), "{}", rest.stderr);
    assert!(printed(&rest)["early_stop"].is_null());
}

#[test]
fn a_rate_below_fails_and_one_near_the_reference_stays_open() {
    let cli = cli();
    cli.file("s.yaml", suite(|at| at % 3 == 0, "'yes'"));
    let below = stop(&cli, "0.8");
    assert_eq!(below.code, Some(1), "{}", below.stdout);
    assert_eq!(printed(&below)["early_stop"]["conclusion"], "below");
    let open = stop(&cli, "0.34");
    assert_eq!((open.code, rows(&cli, "run/results.jsonl").len()), (Some(5), N), "{}", open.stdout);
    assert!(printed(&open)["early_stop"]["conclusion"].is_null());
}

#[test]
fn a_run_is_compared_with_a_baseline_that_was_measured_alike() {
    let cli = cli();
    cli.file("s.yaml", suite(|at| at % 2 == 0, "'yes'"));
    cli.run(&["eval", "s.yaml", "--run-dir", "old", "-q"]).expect_code(1);
    let same = stop(&cli, "old");
    assert_eq!((same.code, rows(&cli, "run/results.jsonl").len()), (Some(5), N), "{}", same.stderr);

    cli.file("s.yaml", suite(|_| true, "'yes'"));
    let better = stop(&cli, "old");
    assert_eq!(better.code, Some(0), "{}{}", better.stdout, better.stderr);
    assert!(rows(&cli, "run/results.jsonl").len() < N / 2);
    let stopped = &printed(&better)["early_stop"];
    assert_eq!((&stopped["metric"], &stopped["against"]), (&"score_difference".into(), &"old".into()));

    // Another check does not make another system.
    cli.file("s.yaml", suite(|_| true, "'y'"));
    let other = stop(&cli, "old");
    assert_eq!((other.code, rows(&cli, "run/results.jsonl").len()), (Some(5), N), "{}", other.stdout);
    assert!(other.stderr.contains("it can't be compared with `old`"), "{}", other.stderr);
}

#[test]
fn options_that_hide_results_from_the_rule_are_refused() {
    let cli = cli();
    cli.file("s.yaml", suite(|_| true, "'yes'"));
    let rule = ["--stop-when", "decided", "--against", "0.8"];
    for (more, says) in [
        (&["--stop-when", "decided"][..], "--against"),
        (&["--against", "0.8"], "--stop-when"),
        (&["--stop-when", "decided", "--against", "1.5"], "above 0 and below 1"),
        (&["--stop-when", "decided", "--against", "nowhere"], "nowhere"),
        (&[rule[0], rule[1], rule[2], rule[3], "--bail"], "--bail"),
        (&[rule[0], rule[1], rule[2], rule[3], "--shard", "1/2", "--seed", "1", "--shuffle"], "--shard"),
        (&[rule[0], rule[1], rule[2], rule[3], "--resume"], "--resume"),
    ] {
        let output = cli.run(&[&["eval", "s.yaml"], more].concat());
        assert_eq!(output.code, Some(2), "{more:?}: {}", output.stdout);
        assert!(output.stderr.contains(says), "{more:?}: {}", output.stderr);
    }
}

#[test]
fn a_watched_comparison_ends_while_the_run_goes_on() {
    let cli = cli();
    let slow = |answer: &str| {
        let cases = (0..200).fold(String::new(), |mut text, at| {
            let check = "assertions: [{type: contains, value: 'yes'}]";
            let _ = writeln!(text, "- {{id: c{at}, criteria: c, input: i{at}, {check}}}");
            text
        });
        cli.file(
            ".assize/targets.yaml",
            format!("targets:\n- {{name: t, provider: cli, command: 'sleep 0.3; echo {answer}'}}\n"),
        );
        cli.file("s.yaml", format!("name: s\nexecution: {{target: t}}\ntests:\n{cases}"));
    };
    slow("no");
    cli.run(&["eval", "s.yaml", "--run-dir", "old", "-q", "-j", "100"]).expect_code(1);

    slow("yes");
    let mut running = cli
        .command(&["eval", "s.yaml", "--run-dir", "new", "-q", "-j", "2"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    while !cli.path("new/run.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let watched = cli.run(&["compare", "old", "new", "--watch", "--fail-on", "worse", "--json"]);
    let is_running = running.try_wait().expect("a child").is_none();
    running.kill().expect("a child");
    running.wait().expect("a child");

    assert_eq!(watched.code, Some(0), "{}{}", watched.stdout, watched.stderr);
    let found: Value = printed(&watched);
    assert_eq!(found["conclusion"], "better");
    assert!(is_running && found["cases_left"].as_u64().is_some_and(|left| left > 50), "{found}");

    // Both have ended now, one of them killed: the existing cases are compared once.
    let worse = cli.run(&["compare", "new", "old", "--watch", "--fail-on", "worse"]);
    assert_eq!(worse.code, Some(1), "{}{}", worse.stdout, worse.stderr);
    assert!(worse.stdout.contains("Valid at any time (old): -"), "{}", worse.stdout);
    let killed = cli.run(&["compare", "new", "new", "--watch", "--fail-on", "worse"]);
    assert_eq!(killed.code, Some(3), "{}{}", killed.stdout, killed.stderr);
    assert!(killed.stdout.contains("`new` stopped before the end"), "{}", killed.stdout);
    // A clear result does not wait for a killed run.
    let clear = cli.run(&["compare", "old", "new", "--watch"]).expect_code(0);
    assert!(clear.stdout.contains("`new` stopped before the end"), "{}", clear.stdout);
    assert!(!clear.stdout.contains("still runs"), "{}", clear.stdout);
    for (more, says) in [("--fail-on=any-worse", "--fail-on worse"), ("--max-drop=0.1", "--max-drop")] {
        let output = cli.run(&["compare", "old", "new", "--watch", more]);
        assert_eq!(output.code, Some(2), "{}", output.stdout);
        assert!(output.stderr.contains(says), "{}", output.stderr);
    }
}
