//! Interrupts: finished cases are recorded, and the folder can be read.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockRequest};

use crate::e2e::bench::{info, judgements, object, outcomes, rows, with_server};
use crate::e2e::judge::{JudgeRequest, honest};

/// Waits up to a minute for an event outside this process.
#[track_caller]
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_mins(1), "{what} did not happen");
        // Yields the processor; nothing depends on how long this takes.
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

pub(crate) fn signal(name: &str, process: u32) -> bool {
    let sent =
        Command::new("kill").args([format!("-{name}"), process.to_string()]).stderr(Stdio::null()).status();
    sent.expect("kill is there").success()
}

fn start(cli: &CliTest, args: &[&str]) -> Child {
    cli.command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

fn end(child: Child) -> CliOutput {
    let output = child.wait_with_output().expect("it can be waited for");
    CliOutput {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}

fn finished(cli: &CliTest, run: &str) -> usize {
    let text = std::fs::read_to_string(cli.path(Path::new(run).join("results.jsonl"))).unwrap_or_default();
    text.matches('\n').count()
}

/// A judge that never replies about answers that contain "hang".
fn stuck(incoming: &MockRequest) -> MockReply {
    match JudgeRequest::read(&incoming.body) {
        Some(request) if request.answer.contains("hangs") => MockReply::Hang,
        _ => honest(incoming),
    }
}

// No two calls are the same, since equal calls would be sent only once.
const SUITE: &str = "name: s\ntests:\n\
    - {id: quick-1, criteria: x, input: q, output: apples, assertions: [Names `apples`]}\n\
    - {id: quick-2, criteria: x, input: q, output: pears, assertions: [Names `apples`]}\n\
    - {id: slow-1, criteria: x, input: q, output: hangs, assertions: [Names `apples`]}\n\
    - {id: slow-2, criteria: x, input: q2, output: hangs, assertions: [Names `apples`]}\n\
    - {id: never, criteria: x, input: q3, output: apples, assertions: [Names `apples`]}\n";

#[test]
fn an_interrupt_keeps_what_was_done_and_exits_with_130() {
    for name in ["INT", "TERM"] {
        let (cli, server) = with_server(stuck);
        cli.file("s.yaml", SUITE);
        let child =
            start(&cli, &["eval", "s.yaml", "--judge", "openai:m", "-j", "2", "--json", "--run-dir", "run"]);
        until("two cases finish and two hang", || finished(&cli, "run") == 2 && server.count() == 4);
        assert!(signal(name, child.id()));
        let output = end(child).expect_code(130);
        let value = object(&output);
        assert_eq!((value["exit_code"].as_u64(), value["not_run"].as_u64()), (Some(130), Some(3)), "{name}");
        assert!(value["exit_reason"].as_str().is_some_and(|words| words.contains("interrupted")));
        let rows = rows(&cli, "run");
        let done: Vec<_> = rows.iter().map(|row| (row["case_id"].as_str(), outcomes(row).concat())).collect();
        assert_eq!(
            done,
            [(Some("quick-1"), "rubric-1=met".to_owned()), (Some("quick-2"), "rubric-1=unmet".to_owned())]
        );
        assert_eq!(judgements(&cli, "run").len(), 2);
        let info = info(&cli, "run");
        assert_eq!(info["summary"]["exit_code"], 130);
        assert!(info["finished_at"].is_string());
        cli.run(&["explain", "run", "quick-1"]).expect_code(0);
        cli.run(&["score", "run", "--threshold", "0.1"]).expect_code(1);
        let missing = cli.run(&["explain", "run", "slow-1"]).expect_code(2);
        assert!(missing.stderr.contains("quick-1"), "{}", missing.stderr);

        cli.file("s.yaml", SUITE.replace("hangs", "apples"));
        let resumed = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run", "--resume"]);
        let spent = resumed.stdout.lines().find(|line| line.starts_with("Spent")).unwrap_or_default();
        assert!(spent.contains("of all invocations"), "{}", resumed.stdout);
        assert!(spent.ends_with("; 2 canceled, of unknown cost"), "{}", resumed.stdout);
    }
}

#[test]
fn an_interrupt_before_anything_finished_leaves_a_readable_folder() {
    let (cli, server) = with_server(|_: &MockRequest| MockReply::Hang);
    cli.file("s.yaml", SUITE);
    let child = start(&cli, &["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]);
    // The others wait for the first answer.
    until("a case is under way", || server.count() == 1);
    assert!(signal("INT", child.id()));
    let output = end(child).expect_code(130);
    assert!(output.stdout.contains("interrupted"), "{}", output.stdout);
    assert_eq!(rows(&cli, "run").len(), 0);
    let output = cli.run(&["explain", "run", "never"]).expect_code(2);
    assert!(output.stderr.contains("no finished case"), "{}", output.stderr);
}

#[test]
fn an_interrupt_ends_the_commands_that_were_running() {
    let (cli, _server) = with_server(honest);
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- name: c\n  provider: cli\n  cwd: .\n  command: \"sleep 600 & echo $! > child.new; mv child.new child; wait\"\n",
    );
    cli.file("s.yaml", "name: s\ntests:\n- {id: a, criteria: x, input: q, assertions: [Names apples]}\n");
    let child = start(&cli, &["eval", "s.yaml", "--run-dir", "run"]);
    let found =
        || [".assize/child", "child"].map(|name| cli.path(name)).into_iter().find(|path| path.exists());
    until("the command runs", || found().is_some());
    let grandchild: u32 = std::fs::read_to_string(found().expect("it was there"))
        .expect("sound")
        .trim()
        .parse()
        .expect("a number");
    assert!(signal("0", grandchild), "it is running");
    assert!(signal("INT", child.id()));
    end(child).expect_code(130);
    until("the command's own child is ended", || !signal("0", grandchild));
}

/// Starts a run whose command does `on_term` when asked to end, and waits until the command runs.
fn start_stubborn(cli: &CliTest, on_term: &str) -> Child {
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- name: c\n  provider: cli\n  command: \"exec 2>/dev/null; cd {}; trap '{on_term}' TERM; touch started; \
             while :; do sleep 0.05; done\"\n",
            cli.dir().display()
        ),
    );
    cli.file("s.yaml", "name: s\ntests:\n- {id: a, criteria: x, input: q, assertions: [apples]}\n");
    let child = start(cli, &["eval", "s.yaml", "--run-dir", "run"]);
    until("the command runs", || cli.path("started").exists());

    child
}

#[test]
fn an_interrupted_command_gets_time_to_tidy_up() {
    let (cli, _server) = with_server(honest);
    let child = start_stubborn(&cli, "sleep 0.2; touch tidied; exit");
    assert!(signal("INT", child.id()));
    end(child).expect_code(130);
    assert!(cli.path("tidied").exists(), "the command was killed without grace");
}

#[test]
fn a_second_interrupt_ends_the_process_at_once() {
    let (cli, _server) = with_server(honest);
    let child = start_stubborn(&cli, "");
    assert!(signal("INT", child.id()));

    // Two signals in a row count as one, so more than one follows.
    let begun = Instant::now();
    let process = child.id();
    until("time passes", || begun.elapsed() > Duration::from_millis(400));
    assert!(signal("INT", process));
    let output = end(child);
    assert!(output.stderr.contains("interrupted twice"), "{}", output.stderr);
    output.expect_code(130);
    assert_eq!(finished(&cli, "run"), 0);
}
