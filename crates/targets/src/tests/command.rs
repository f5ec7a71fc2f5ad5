//! Commands as targets, with real processes.
#![cfg(unix)]

use assize_rubric::{Cost, Usd};
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::{
    CommandTarget, CommandTemplate, InputMessage, MessageRole, RetryingTarget, Target, TargetAnswer,
    TargetError, TargetErrorKind, TargetInput, TargetInputPart,
};
use assize_process::{Environment, ProcessLimits, ProgramConsent};
use assize_trace::LogFormat;
use tempfile::TempDir;

const CONSENT: Option<ProgramConsent> = Some(ProgramConsent::of_user());

/// Texts that a shell would split, execute or drop if it parsed them.
const HOSTILE: &[&str] = &[
    "it's", "'; touch owned; '", "\"; touch owned; \"", "$(touch owned)", "`touch owned`",
    "${HOME} $1 $@ $$ !! \\ \\n \\' \\\"", "two\nlines\n\nand an end\n\n", " leading, trailing \t ",
    "* ? [a] ~ {a,b} # & | ; < > ( )", "{PROMPT} {OUTPUT_FILE} {EVAL_ID}", "-n --help", "é € 😀 \u{202e}",
    "",
];

fn env() -> Environment {
    Environment::from_vars([("PATH", "/usr/local/bin:/usr/bin:/bin")])
}

fn shell(script: &str, root: &TempDir) -> CommandTarget {
    let target = CommandTarget::new("t", CommandTemplate::Shell(script.into()), env(), root.path());
    CommandTarget { cwd: Some(root.path().into()), consent: CONSENT, ..target }
}

fn argv(words: &[&str], root: &TempDir) -> CommandTarget {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    let target = CommandTarget::new("t", CommandTemplate::Argv(words), env(), root.path());
    CommandTarget { cwd: Some(root.path().into()), consent: CONSENT, ..target }
}

fn asked(text: &str) -> TargetInput {
    TargetInput::new("case", vec![InputMessage::text(MessageRole::User, text)])
}

async fn answer(target: &CommandTarget, input: &TargetInput) -> TargetAnswer {
    target.answer(input).await.expect("the command answers")
}

async fn failure(target: &CommandTarget, input: &TargetInput) -> TargetError {
    target.answer(input).await.expect_err("the command gives no answer")
}

/// Writes its first argument to its second, followed by a full stop so that a trailing line break is not lost.
const WRITE: &str = "printf '%s.' \"$1\" > \"$2\"\n";

#[tokio::test]
async fn any_prompt_arrives_byte_for_byte_in_every_kind_of_quotes() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("write.sh"), WRITE).unwrap();
    let places = [
        "sh write.sh {PROMPT} {OUTPUT_FILE}",
        "sh write.sh \"{PROMPT}\" \"{OUTPUT_FILE}\"",
        "sh write.sh '{PROMPT}' '{OUTPUT_FILE}'",
        "f() { sh write.sh {PROMPT} {OUTPUT_FILE}; }\n# don't mind this\nf x y",
    ];
    for place in places {
        let target = shell(place, &root);
        for text in HOSTILE {
            assert_eq!(answer(&target, &asked(text)).await.text, format!("{text}."), "{place}");
        }
    }
    let direct = argv(&["sh", "write.sh", "{PROMPT}", "{OUTPUT_FILE}"], &root);
    for text in HOSTILE {
        assert_eq!(answer(&direct, &asked(text)).await.text, format!("{text}."));
    }
    assert!(!root.path().join("owned").exists());
}

#[tokio::test]
async fn a_prompt_file_holds_the_prompt_byte_for_byte() {
    let root = tempfile::tempdir().unwrap();
    let target = shell("cmp -s {PROMPT_FILE} wanted && cat {PROMPT_FILE} > copy; echo same=$?", &root);
    for text in HOSTILE.iter().copied().chain(["nul \0 byte", &"long ".repeat(100_000)]) {
        fs::write(root.path().join("wanted"), text).unwrap();
        assert_eq!(answer(&target, &asked(text)).await.text, "same=0");
    }
}

#[tokio::test]
async fn without_an_output_file_stdout_is_the_answer() {
    let root = tempfile::tempdir().unwrap();
    let plain = answer(&shell("echo noise >&2; printf 'a\\n\\nb\\n\\n'", &root), &asked("")).await;
    assert_eq!(plain.text, "a\n\nb");
    assert!(plain.duration > Duration::ZERO);
    assert_eq!(answer(&shell("true", &root), &asked("")).await.text, "");
    let json = r#"echo '{"text": "x", "token_usage": {"input": 3, "output": 4}, "cost_usd": 0.5, "duration_ms": 9}'"#;
    let reply = answer(&shell(json, &root), &asked("")).await;
    assert_eq!(
        (reply.text.as_str(), reply.cost.and_then(Cost::total), reply.attempts),
        ("x", Usd::from_dollars(0.5), 1)
    );
    assert_eq!((reply.tokens.input, reply.tokens.output), (Some(3), Some(4)));
    assert_eq!(reply.duration, Duration::from_millis(9));
}

#[tokio::test]
async fn with_an_output_file_stdout_is_only_chatter() {
    let root = tempfile::tempdir().unwrap();
    let target = shell("echo chatter; echo answer > {OUTPUT_FILE}", &root);
    assert_eq!(answer(&target, &asked("")).await.text, "answer");
    assert_eq!(answer(&shell("echo chatter; : > {OUTPUT_FILE}", &root), &asked("")).await.text, "");
}

#[tokio::test]
async fn an_output_file_that_was_never_written_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let error = failure(&shell("echo why >&2; echo {OUTPUT_FILE}", &root), &asked("")).await;
    assert_eq!(error.kind, TargetErrorKind::NoAnswer);
    assert!(error.message.contains("did not write {OUTPUT_FILE}"), "{error}");
    assert_eq!(error.stderr.as_deref(), Some("why"));
    assert!(error.duration.is_some());
    let folder = failure(&shell("mkdir {OUTPUT_FILE}", &root), &asked("")).await;
    assert_eq!(folder.kind, TargetErrorKind::Malformed);
}

#[tokio::test]
async fn a_failed_command_has_given_no_answer() {
    let root = tempfile::tempdir().unwrap();
    let script =
        "echo answer; echo answer > {OUTPUT_FILE}; yes no | head -c 5000 >&2; echo the reason >&2; exit 3";
    let error = failure(&shell(script, &root), &asked("")).await;
    assert_eq!(error.kind, TargetErrorKind::Failed);
    assert!(error.message.starts_with("the command failed (exit code 3); it said: "), "{error}");
    let stderr = error.stderr.unwrap();
    assert!(stderr.ends_with("the reason") && stderr.len() <= 2000, "{}", stderr.len());
    let killed = failure(&shell("kill -9 $$", &root), &asked("")).await;
    assert_eq!(&*killed.message, "the command failed (ended by signal 9 (kill)); it printed nothing");
}

#[tokio::test]
async fn answers_above_the_limit_are_refused_rather_than_cut() {
    let root = tempfile::tempdir().unwrap();
    let limits = ProcessLimits { stdout_cap: 10, ..ProcessLimits::default() };
    for (script, size) in [("printf 12345678901", 11), ("printf 12345678901 > {OUTPUT_FILE}", 11)] {
        let error = failure(&CommandTarget { limits, ..shell(script, &root) }, &asked("")).await;
        assert_eq!(error.kind, TargetErrorKind::TooLarge);
        assert!(error.message.contains(&format!("{size} bytes")), "{error}");
    }
    for script in ["printf 1234567890", "printf 1234567890 > {OUTPUT_FILE}"] {
        let target = CommandTarget { limits, ..shell(script, &root) };
        assert_eq!(answer(&target, &asked("")).await.text, "1234567890");
    }
}

#[tokio::test]
async fn what_cannot_be_an_argument_points_to_the_prompt_file() {
    let root = tempfile::tempdir().unwrap();
    for target in [shell("echo {PROMPT}", &root), argv(&["echo", "{PROMPT}"], &root)] {
        let nul = failure(&target, &asked("a\0b")).await;
        assert_eq!(nul.kind, TargetErrorKind::BadInput);
        assert!(nul.message.contains("NUL byte") && nul.message.contains("{PROMPT_FILE}"), "{nul}");
        let long = failure(&target, &asked(&"x".repeat(8_000_000))).await;
        assert_eq!(long.kind, TargetErrorKind::BadInput);
        assert!(long.message.contains("too long") && long.message.contains("{PROMPT_FILE}"), "{long}");
    }
}

fn file(path: &Path) -> TargetInputPart {
    let display = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    TargetInputPart::File { path: path.to_owned(), display, text: "content".into() }
}

#[tokio::test]
async fn the_other_placeholders_are_filled() {
    let root = tempfile::tempdir().unwrap();
    let parts =
        vec![file(Path::new("/x/a b.md")), file(Path::new("/x/it's.md")), file(Path::new("/x/a b.md"))];
    let input = TargetInput {
        attempt: 2,
        guidelines: "be kind".into(),
        ..TargetInput::new("../odd id/1", vec![InputMessage { role: MessageRole::User, parts }])
    };
    let script = "printf '%s|' {FILES} {EVAL_ID} {ATTEMPT} {GUIDELINES} {UNKNOWN} \"${PATH:+set}\"";
    let formatted = CommandTarget { files_format: "--f {path}={basename}".into(), ..shell(script, &root) };
    assert_eq!(
        answer(&formatted, &input).await.text,
        "--f|/x/a b.md=a b.md|--f|/x/it's.md=it's.md|../odd id/1|2|be kind|{UNKNOWN}|set|"
    );
    let direct = argv(&["printf", "%s|", "{FILES}", "id={EVAL_ID}", "{UNKNOWN}"], &root);
    assert_eq!(answer(&direct, &input).await.text, "/x/a b.md|/x/it's.md|id=../odd id/1|{UNKNOWN}|");
    assert_eq!(answer(&direct, &asked("")).await.text, "id=case|{UNKNOWN}|");
}

#[tokio::test]
async fn odd_case_ids_neither_escape_nor_leave_files_behind() {
    let root = tempfile::tempdir().unwrap();
    let target = shell("cp {PROMPT_FILE} {OUTPUT_FILE}", &root);
    for id in ["a/b", "../../up", "a b", ".", "x'$(y)", "", &"long".repeat(200)] {
        let input = TargetInput { case_id: id.to_owned(), ..asked("hello") };
        assert_eq!(answer(&target, &input).await.text, "hello");
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_cases_own_folder_wins() {
    let root = tempfile::tempdir().unwrap();
    let own = tempfile::tempdir().unwrap();
    fs::write(root.path().join("where"), "target").unwrap();
    fs::write(own.path().join("where"), "case").unwrap();
    let target = shell("cat where", &root);
    assert_eq!(answer(&target, &asked("")).await.text, "target");
    let input = TargetInput { workdir: Some(own.path().into()), ..asked("") };
    assert_eq!(answer(&target, &input).await.text, "case");
}

#[tokio::test]
async fn commands_that_cannot_start_say_why() {
    let root = tempfile::tempdir().unwrap();
    let error = failure(&argv(&["no-such-agent"], &root), &asked("")).await;
    assert_eq!(error.kind, TargetErrorKind::NotStarted);
    assert!(error.message.contains("`no-such-agent` was not found in the folders of PATH"), "{error}");
    let missing = CommandTarget { scratch: root.path().join("absent"), ..shell("true", &root) };
    assert_eq!(failure(&missing, &asked("")).await.kind, TargetErrorKind::Io);
}

#[tokio::test]
async fn timeouts_are_tried_again_and_other_failures_are_not() {
    let root = tempfile::tempdir().unwrap();
    // The first run never ends; the second finds the mark of the first.
    let script = "if test -e mark; then echo done; else echo x > mark; echo stuck >&2; sleep 60; fi";
    let slow = shell(script, &root).with_timeout(Duration::from_secs(2));
    let error = failure(&slow, &asked("")).await;
    assert_eq!((error.kind, error.stderr.as_deref()), (TargetErrorKind::Timeout, Some("stuck\n")));
    assert!(error.message.contains("time limit of 2 s"), "{error}");
    fs::remove_file(root.path().join("mark")).unwrap();
    let again = RetryingTarget::new(slow, 1).answer(&asked("")).await.unwrap();
    assert_eq!((again.text.as_str(), again.attempts), ("done", 2));

    let failing = RetryingTarget::new(shell("echo x >> runs; exit 1", &root), 5);
    assert_eq!(failing.answer(&asked("")).await.unwrap_err().attempts, 1);
    assert_eq!(fs::read_to_string(root.path().join("runs")).unwrap(), "x\n");
}

/// Logs of agents, as they print them, and the ways in which their command may end without an answer.
#[tokio::test]
async fn what_an_agent_took_is_known_however_its_command_ends() {
    let root = tempfile::tempdir().unwrap();
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/logs");
    for (format, log) in [
        (LogFormat::ClaudeCode, "claude-stream.jsonl"),
        (LogFormat::Codex, "codex-exec.jsonl"),
        (LogFormat::Copilot, "copilot.jsonl"),
        (LogFormat::Gemini, "gemini-stream.jsonl"),
        (LogFormat::OpenCode, "opencode-run.jsonl"),
        (LogFormat::Pi, "pi.jsonl"),
    ] {
        let print = format!("cat '{}'", logs.join(log).display());
        let agent = |end: &str| {
            let target = shell(&format!("{print}; {end}"), &root).with_timeout(Duration::from_secs(3));
            CommandTarget { stream: Some(format), ..target }
        };
        let whole = answer(&agent("true"), &asked("x")).await;
        assert!(whole.tokens.input.is_some() && whole.tokens.output.is_some(), "{log}");
        for end in ["exit 1", "kill -9 $$", "sleep 60"] {
            let failed = failure(&agent(end), &asked("x")).await;
            assert_eq!(failed.tokens, whole.tokens, "{log}: {end}: {failed}");
            assert_eq!(failed.cost.total(), whole.cost.and_then(assize_rubric::Cost::total), "{log}: {end}");
            assert!(failed.duration.is_some(), "{log}: {end}");
        }
    }
}
