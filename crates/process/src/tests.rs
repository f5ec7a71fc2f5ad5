//! Real programs: results, refusals, and no remaining processes.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::{Environment, ProcessCommand, ProcessError, ProcessExit, ProcessLimits, ProgramConsent, quote};

const CONSENT: Option<ProgramConsent> = Some(ProgramConsent::of_user());

fn env() -> Environment {
    Environment::from_vars([("PATH", "/usr/local/bin:/usr/bin:/bin")])
}

fn sh(script: &str) -> ProcessCommand {
    ProcessCommand::shell(script, env())
}

/// Short waits, so that a stubborn process is ended soon.
fn impatient(timeout_ms: Option<u64>) -> ProcessLimits {
    ProcessLimits {
        timeout: timeout_ms.map(Duration::from_millis),
        grace: Duration::from_millis(200),
        linger: Duration::from_millis(100),
        ..ProcessLimits::default()
    }
}

/// Whether a process is gone, or only waits for its parent to notice.
fn is_gone(pid: &str) -> bool {
    assert!(pid.parse::<u32>().is_ok(), "not a process id: {pid:?}");
    if Path::new("/proc/self/stat").exists() {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
        return stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
    }
    let status = std::process::Command::new("kill").args(["-0", pid]).status();
    !status.is_ok_and(|status| status.success())
}

/// Waits until a condition holds, without a time limit. The kernel ends a killed process soon, but not at once.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let looking = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), looking).await.is_ok(), "never: {what}");
}

async fn assert_all_gone(pids: &str) {
    assert!(!pids.trim().is_empty(), "the script printed no process ids");
    for pid in pids.split_whitespace() {
        until(&format!("process {pid} is gone"), || is_gone(pid)).await;
    }
}

#[tokio::test]
async fn exit_codes_and_both_streams_come_back() {
    let done = sh("echo out; echo err >&2; exit 7").run(CONSENT).await.unwrap();
    assert_eq!(done.exit, ProcessExit::Code(7));
    assert!(!done.exit.is_success());
    assert_eq!(done.stdout.bytes, b"out\n");
    assert_eq!(done.stderr.bytes, b"err\n");
    assert!(!done.stdout.is_truncated() && !done.left_processes);
    assert!(done.duration > Duration::ZERO);
}

#[tokio::test]
async fn death_by_signal_is_told_from_an_exit_code() {
    let done = sh("kill -9 $$").run(CONSENT).await.unwrap();
    assert_eq!(done.exit, ProcessExit::Signal(9));
    assert_eq!(done.exit.to_string(), "ended by signal 9 (kill)");
}

#[tokio::test]
async fn an_argument_list_meets_no_shell() {
    let done =
        ProcessCommand::argv(["printf", "%s|", "$(id)", "a b", "*", ""], env()).run(CONSENT).await.unwrap();
    assert_eq!(done.stdout.text(), "$(id)|a b|*||");
}

#[tokio::test]
async fn quoted_text_arrives_byte_for_byte() {
    for text in ["it's", "'", "''", "a\nb\n\n", "$(id) `id` ${HOME} \\ \\n !x \"q\"", "", "-n", "é€😀\t\r"]
    {
        let done = sh(&format!("printf %s {}", quote(text))).run(CONSENT).await.unwrap();
        assert_eq!(done.stdout.text(), text);
    }
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    let env = Environment::from_vars([("A", "1"), ("B", "two words")]);
    let done = ProcessCommand::argv(["/usr/bin/env"], env).run(CONSENT).await.unwrap();
    assert_eq!(done.stdout.text(), "A=1\nB=two words\n");
}

#[tokio::test]
async fn the_working_directory_is_used() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("here.txt"), "found").unwrap();
    let done =
        ProcessCommand::argv(["cat", "here.txt"], env()).in_folder(folder.path()).run(CONSENT).await.unwrap();
    assert_eq!(done.stdout.bytes, b"found");
}

#[tokio::test]
async fn large_output_on_both_streams_neither_blocks_nor_grows() {
    let script = "head -c 3000000 /dev/zero | tr '\\0' o; head -c 3000000 /dev/zero | tr '\\0' e >&2; \
                  printf END; printf END >&2";
    let limits = ProcessLimits { stdout_cap: 1000, stderr_cap: 10, ..ProcessLimits::default() };
    let done = sh(script).with_limits(limits).run(CONSENT).await.unwrap();
    assert_eq!(done.stdout.bytes, "o".repeat(1000).into_bytes());
    assert_eq!(done.stdout.total, 3_000_003);
    assert_eq!(done.stderr.bytes, b"eeeeeeeEND");
    assert!(done.stdout.is_truncated() && done.stderr.is_truncated());
}

#[tokio::test]
async fn input_goes_in_while_output_comes_out() {
    let input = vec![b'x'; 2_000_000];
    let done = ProcessCommand::argv(["cat"], env()).with_stdin(input.clone()).run(CONSENT).await.unwrap();
    assert_eq!(done.stdout.bytes, input);
}

#[tokio::test]
async fn a_program_may_ignore_its_input() {
    let done = sh("exec true").with_stdin(vec![b'x'; 2_000_000]).run(CONSENT).await.unwrap();
    assert!(done.exit.is_success());
    let closed = sh("exec <&-; echo ok").with_stdin(vec![b'x'; 2_000_000]).run(CONSENT).await.unwrap();
    assert_eq!(closed.stdout.bytes, b"ok\n");
}

#[tokio::test]
async fn without_input_stdin_is_empty() {
    assert_eq!(ProcessCommand::argv(["cat"], env()).run(CONSENT).await.unwrap().stdout.total, 0);
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group_and_keeps_what_was_said() {
    let script = "sleep 60 & echo $! $$; echo warned >&2; wait";
    let problem = sh(script).with_limits(impatient(Some(1000))).run(CONSENT).await.unwrap_err();
    assert!(matches!(&problem, ProcessError::Timeout { limit, .. } if *limit == Duration::from_secs(1)));
    assert_eq!(problem.to_string(), "stopped after the time limit of 1 s");
    let partial = problem.partial().unwrap();
    assert_eq!(partial.stderr.bytes, b"warned\n");
    assert_all_gone(&partial.stdout.text()).await;
}

#[tokio::test]
async fn a_program_that_ends_on_request_may_say_goodbye() {
    let script = "trap 'echo goodbye; exit 0' TERM; echo up; sleep 60 & wait";
    let limits = ProcessLimits { grace: Duration::from_secs(20), ..impatient(Some(1000)) };
    let problem = sh(script).with_limits(limits).run(CONSENT).await.unwrap_err();
    assert_eq!(problem.partial().unwrap().stdout.text(), "up\ngoodbye\n");
}

#[tokio::test]
async fn a_group_that_ignores_the_request_is_killed() {
    let script = "trap '' TERM; sleep 60 & echo $! $$; wait; sleep 60";
    let problem = sh(script).with_limits(impatient(Some(1000))).run(CONSENT).await.unwrap_err();
    assert_all_gone(&problem.partial().unwrap().stdout.text()).await;
}

#[tokio::test]
async fn a_child_that_keeps_the_pipes_open_does_not_hold_us() {
    let done = sh("sleep 60 & echo $!; exit 3").with_limits(impatient(None)).run(CONSENT).await.unwrap();
    assert_eq!(done.exit, ProcessExit::Code(3));
    assert!(done.left_processes);
    assert_all_gone(&done.stdout.text()).await;
}

#[tokio::test]
async fn a_silent_child_left_behind_is_ended_too() {
    let script = "sleep 60 >/dev/null 2>&1 </dev/null & echo $!";
    let done = sh(script).with_limits(impatient(None)).run(CONSENT).await.unwrap();
    assert!(done.exit.is_success() && done.left_processes);
    assert_all_gone(&done.stdout.text()).await;
}

#[tokio::test]
async fn output_that_comes_just_after_the_exit_is_still_read() {
    let limits = ProcessLimits { linger: Duration::from_secs(20), ..impatient(None) };
    let done = sh("(sleep 0.2; echo late) & echo early").with_limits(limits).run(CONSENT).await.unwrap();
    assert_eq!(done.stdout.text(), "early\nlate\n");
}

#[tokio::test]
async fn cancelling_ends_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("pids");
    let command = sh("sleep 60 & echo $! $$; echo up > pids; wait")
        .in_folder(folder.path())
        .with_limits(impatient(None));
    let problem = command.run_until(CONSENT, until("the script is up", || mark.exists())).await.unwrap_err();
    assert!(matches!(problem, ProcessError::Cancelled { .. }));
    assert_all_gone(&problem.partial().unwrap().stdout.text()).await;
}

/// Starts a command that writes its process ids to a file, and returns them once it runs.
async fn started(folder: &Path) -> (tokio::task::JoinHandle<()>, String) {
    let script = "trap '' TERM; sleep 60 & echo $! $$ > new; mv new pids; wait; sleep 60";
    let command = sh(script).in_folder(folder).with_limits(impatient(None));
    let task = tokio::spawn(async move {
        let _ = command.run(CONSENT).await;
    });
    let file = folder.join("pids");
    until("the script is up", || file.exists()).await;
    (task, fs::read_to_string(file).expect("the file is there"))
}

#[tokio::test]
async fn dropping_the_future_ends_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let (task, pids) = started(folder.path()).await;
    task.abort();
    assert_all_gone(&pids).await;
}

#[test]
fn ending_the_runtime_ends_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_task, pids) = runtime.block_on(started(folder.path()));
    drop(runtime);
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(assert_all_gone(&pids));
}

async fn refusal(command: ProcessCommand) -> String {
    command.run(CONSENT).await.expect_err("it can't start").to_string()
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    assert_eq!(
        refusal(ProcessCommand::argv(["no-such-tool", "x"], env())).await,
        "`no-such-tool` was not found in the folders of PATH; install it, or write the path to it"
    );
    assert_eq!(
        refusal(ProcessCommand::argv(["./no-such-tool"], env())).await,
        "`./no-such-tool` was not found: there is no such file"
    );
    assert_eq!(
        refusal(ProcessCommand::argv(Vec::<String>::new(), env())).await,
        "the command is empty: the first word must be a program"
    );
    assert_eq!(
        refusal(ProcessCommand::argv(["echo", "a\0b"], env())).await,
        "argument 1 holds a NUL byte, which can't be passed to a program"
    );
    let gone = refusal(ProcessCommand::argv(["echo"], env()).in_folder("/no/such/folder")).await;
    assert!(gone.starts_with("the working directory /no/such/folder does not exist"), "{gone}");
    let long = ProcessCommand::argv(["echo".to_owned(), "x".repeat(8_000_000)], env())
        .run(CONSENT)
        .await
        .unwrap_err();
    assert!(matches!(long, ProcessError::TooLong { bytes, .. } if bytes > 8_000_000), "{long:?}");
}

#[tokio::test]
async fn files_that_cannot_be_run_say_what_is_wrong_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    let message = refusal(ProcessCommand::argv([&plain], env())).await;
    assert!(message.contains("permission denied"), "{message}");

    let orphan = folder.path().join("orphan");
    fs::write(&orphan, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&orphan, fs::Permissions::from_mode(0o755)).unwrap();
    let message = refusal(ProcessCommand::argv(["./orphan"], env()).in_folder(folder.path())).await;
    assert!(message.contains("interpreter named in its first line"), "{message}");
}

#[tokio::test]
async fn nothing_starts_without_consent() {
    let folder = tempfile::tempdir().unwrap();
    let touch = ProcessCommand::argv(["touch", "made"], env()).in_folder(folder.path());
    let (errors, _) = tokio::sync::mpsc::unbounded_channel();
    let refused = [
        touch.run(None).await.expect_err("no consent"),
        crate::LineProcess::start(&touch, None, errors).expect_err("no consent"),
    ];
    for error in refused {
        assert!(matches!(&error, ProcessError::NoConsent { program } if program == "touch"), "{error}");
    }
    assert!(!folder.path().join("made").exists());

    touch.run(CONSENT).await.unwrap();
    assert!(folder.path().join("made").exists());
}

/// A second place that makes a consent would be a second rule about who gives it.
#[test]
fn consent_is_made_where_the_choice_of_the_user_is_read_and_for_own_programs() {
    fn visit(folder: &Path, makers: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("src/tests") {
                    visit(&path, makers);
                }
            } else if !path.ends_with("src/tests.rs")
                && path.extension().is_some_and(|extension| extension == "rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                let product = text.split("#[cfg(test)]").next().unwrap_or_default();
                if product.contains("ProgramConsent::of_user") {
                    makers.push(path.to_string_lossy().into_owned());
                }
            }
        }
    }

    let mut makers = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap() {
        let sources = entry.unwrap().path().join("src");
        if sources.is_dir() {
            visit(&sources, &mut makers);
        }
    }
    makers.sort();
    let expected = ["engine/src/consent.rs", "process/src/own_program.rs"];
    assert!(
        makers.len() == 2 && makers.iter().zip(expected).all(|(path, end)| path.ends_with(end)),
        "{makers:?}"
    );
}
