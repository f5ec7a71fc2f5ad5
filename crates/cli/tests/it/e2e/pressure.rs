//! A full disk, and a system that allows few open files.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assize_testkit::mock::{MockReply, MockRequest};

use crate::e2e::bench::{cli, info, rows, with_server};
use crate::e2e::judge::honest;

/// Runs the binary where no file may grow beyond this many blocks, as on a full disk.
fn limited(cli: &assize_testkit::cli::CliTest, blocks: u32, args: &[&str]) -> std::process::Output {
    within(cli, &format!("trap '' XFSZ; ulimit -f {blocks}"), args)
}

/// Runs the binary within limits that a shell sets.
fn within(cli: &assize_testkit::cli::CliTest, limits: &str, args: &[&str]) -> std::process::Output {
    let inner = cli.command::<&str>(&[]);
    let script = format!("{limits}; exec \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh"])
        .arg(inner.get_program())
        .args(args)
        .current_dir(cli.dir())
        .env_clear();
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null()).output().expect("a shell runs")
}

#[test]
fn a_full_disk_stops_the_run_with_a_message_and_without_a_panic() {
    let (cli, server) = with_server(honest);
    let mut suite = String::from("name: s\ntests:\n");
    for number in 0..30 {
        let answer = "apples ".repeat(600);
        let _ = writeln!(
            suite,
            "- {{id: c{number:02}, criteria: x, input: q, output: {answer}, assertions: [Names `apples`]}}"
        );
    }
    cli.file("s.yaml", suite);
    // 20 blocks of 512 or 1024 bytes hold run.json and a few rows. Without the cache, which does not fit and
    // would refuse the run before it begins.
    let eval = ["eval", "s.yaml", "--judge", "openai:m", "-j", "1", "--json", "--run-dir", "run"];
    let refused = limited(&cli, 20, &eval);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), server.count()), (Some(2), 0), "{stderr}");
    assert_eq!(stderr.matches("--no-cache").count(), 1, "{stderr}");
    let output = limited(&cli, 20, &[&eval[..], &["--no-cache"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("can't be stored") && stderr.contains("run/"), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(value["exit_reason"].as_str().is_some_and(|words| words.contains("stopped: results")), "{value}");
    assert!(server.count() < 30, "nothing is spent on results that are lost");
    // The rows stored before that are intact.
    let whole: Vec<String> = cli
        .read("run/results.jsonl")
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(str::to_owned)
        .collect();
    assert!(!whole.is_empty());
    cli.run(&["explain", "run", "c00"]).expect_code(0);
    assert_eq!(info(&cli, "run")["summary"]["exit_code"], 3, "the record says how it ended");
}

#[test]
fn a_disk_that_is_full_from_the_start_is_found_out_before_anything_is_spent() {
    let (cli, server) = with_server(honest);
    cli.file("s.yaml", crate::e2e::bench::one_case("apples", &["Names `apples`"]));
    let output = limited(&cli, 0, &["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("nothing was spent"), "{stderr}");
    assert_eq!(server.count(), 0);
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run2"]).expect_code(0);
}

#[test]
fn few_open_files_make_a_run_slower_and_lose_nothing() {
    let (cli, server) = with_server(|incoming: &MockRequest| {
        MockReply::After(Duration::from_millis(30), Box::new(honest(incoming)))
    });
    let mut suite = String::from("name: s\ntests:\n");
    for number in 0..150 {
        let _ = writeln!(
            suite,
            "- {{id: c{number}, criteria: x, input: q, output: apples {number}, assertions: [Names `apples`]}}"
        );
    }
    cli.file("s.yaml", suite);
    let eval = ["eval", "s.yaml", "--judge", "openai:m", "--max-concurrency", "100", "--run-dir", "run"];
    let output = within(&cli, "ulimit -n 48", &eval);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), server.count()), (Some(0), 150), "{stderr}");
    assert!(stderr.contains("48 open files") && stderr.contains("24 requests"), "{stderr}");
    let peak = server.peak_in_flight();
    assert!((2..=24).contains(&peak), "{peak}");
    assert!(info(&cli, "run")["finished_at"].is_string());
}

#[test]
fn stdout_that_goes_away_is_no_failure() {
    let cli = cli();
    cli.file("s.yaml", crate::e2e::bench::one_case("apples", &["Names apples"]));
    let mut child = cli
        .command(&["eval", "s.yaml", "--run-dir", "run"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(rows(&cli, Path::new("run")).len(), 1);
}
