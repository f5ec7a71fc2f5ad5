//! Agents, recordings and mocks as targets: graders and judges see their actions.

use std::fs;
use std::path::{Path, PathBuf};

use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::e2e::bench::{cli, info, object, rows};

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/logs").join(name)
}

/// A program that checks its arguments and prints a log.
fn fake_agent(cli: &CliTest, name: &str, log_name: &str) {
    let script =
        format!("#!/bin/sh\nprintf '%s\\n' \"$*\" > {name}.args\ncat > {name}.stdin\ncat {name}.log\n");
    cli.file(format!("bin/{name}"), script);
    cli.file(format!("{name}.log"), fs::read_to_string(log(log_name)).expect("a log"));
    make_runnable(&cli.path(format!("bin/{name}")));
}

fn make_runnable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("set");
}

fn suite(assertions: &str) -> String {
    format!("name: s\ntests:\n- id: a\n  criteria: x\n  input: Do it well.\n  assertions:\n{assertions}")
}

#[test]
fn every_agent_is_run_as_its_preset_says_and_its_stream_is_read() {
    for (provider, program, log_name, answer, tool) in [
        ("claude", "claude", "claude-stream.jsonl", "It does nothing.", "Read"),
        ("codex", "codex", "codex-exec.jsonl", "", "shell"),
        ("copilot", "copilot", "copilot.jsonl", "Renamed.", "edit"),
        ("gemini-cli", "gemini", "gemini-stream.jsonl", "Twelve lines.", "run_shell_command"),
        ("opencode", "opencode", "opencode-run.jsonl", "It is Sunday.", "bash"),
        ("pi-coding-agent", "pi", "pi.jsonl", "Twelve files.", "bash"),
    ] {
        let cli = cli();
        fake_agent(&cli, program, log_name);
        cli.file(
            ".assize/targets.yaml",
            format!(
                "targets:\n- name: agent\n  provider: {provider}\n  executable: ./bin/{program}\n  model: best\n  \
                 args: [--extra, 'two words']\n  cwd: ..\n"
            ),
        );
        cli.file(
            "s.yaml",
            suite(&format!(
                "  - type: tool-trajectory\n    mode: any_order\n    minimums: {{{tool}: 1}}\n  - type: latency\n    \
                 threshold: 600000\n  - type: token-usage\n    max_total: 1000000\n"
            )),
        );
        let output = cli.run(&["eval", "s.yaml", "--run-dir", "run"]);
        assert_eq!(output.code, Some(0), "{provider}: {}{}", output.stdout, output.stderr);
        let row = &rows(&cli, "run")[0];
        if !answer.is_empty() {
            assert_eq!(row["answer"], answer, "{provider}");
        }
        assert!(row["tokens"]["input"].as_u64().is_some_and(|count| count > 0), "{provider}: {row}");
        let args = cli.read(format!("{program}.args"));
        assert!(args.contains("--model best --extra two words"), "{provider}: {args}");
        let asked = format!("{args}{}", cli.read(format!("{program}.stdin")));
        assert!(asked.contains("Do it well."), "{provider}: {asked}");
        assert_eq!(info(&cli, "run")["targets"][0]["kind"], "command");
    }
}

#[test]
fn an_agent_that_fails_gives_no_answer_and_its_own_reason() {
    let cli = cli();
    for (script, reason) in [
        (
            r#"echo '{"type":"system","subtype":"init","session_id":"s"}'; echo '{"type":"result","subtype":"error","is_error":true,"session_id":"s","result":"no credit left"}'; exit 1"#,
            "no credit left",
        ),
        (
            r#"echo '{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"s"}'"#,
            "error_max_turns",
        ),
        ("echo nonsense", "line 1: not JSON"),
        ("true", "the agent printed nothing"),
        ("echo 'not logged in' >&2; exit 3", "not logged in"),
    ] {
        cli.file("bin/agent", format!("#!/bin/sh\n{script}\n"));
        make_runnable(&cli.path("bin/agent"));
        cli.file(
            ".assize/targets.yaml",
            "targets:\n- {name: agent, provider: claude, executable: ./bin/agent, cwd: ..}\n",
        );
        cli.file("s.yaml", suite("  - type: contains\n    value: x\n"));
        let run = format!("run-{}", reason.len());
        cli.run(&["eval", "s.yaml", "--run-dir", &run]).expect_code(3);
        let row = &rows(&cli, &run)[0];
        assert_eq!(row["score"], Value::Null);
        let message = row["error"]["message"].as_str().expect("a message");
        assert!(message.contains(reason), "{reason}: {message}");
    }
}

const SKILL_SUITE: &str = "name: s\ntests:\n\
    - id: 5f0c\n  criteria: x\n  input: Deploy the billing service to staging.\n  assertions:\n  \
    - Mentions the acme-deploy skill\n  - type: skill-trigger\n    skill: acme-deploy\n  \
    - type: execution-metrics\n    max_tool_calls: 3\n    max_duration_ms: 11000\n    max_tokens: 7000\n";

#[test]
fn recorded_sessions_are_graded_by_id_by_question_and_alone() {
    let cli = cli();
    cli.file("logs/one.jsonl", fs::read_to_string(log("claude-session.jsonl")).expect("a log"));
    cli.file(".assize/targets.yaml", "targets:\n- {name: past, provider: transcript, path: ../logs}\n");
    cli.file("s.yaml", SKILL_SUITE);
    let output = cli.run(&["eval", "s.yaml", "--run-dir", "by-id"]).expect_code(0);
    assert!(output.stdout.contains("a-kind-of-tomorrow (1)"), "{}", output.stdout);
    let row = &rows(&cli, "by-id")[0];
    assert_eq!(row["answer"], "The deployment failed: permission denied.");
    assert_eq!(
        row["tokens"],
        serde_json::json!({"input": 0, "cached": 0, "output": 0}),
        "nothing was spent now"
    );
    assert_eq!(info(&cli, "by-id")["targets"][0]["kind"], "recorded");

    // Any id, since there is only one session; then by the question, next to another session.
    cli.file("s.yaml", SKILL_SUITE.replace("5f0c", "mine"));
    cli.run(&["eval", "s.yaml", "--run-dir", "alone"]).expect_code(0);
    cli.file("logs/two.jsonl", fs::read_to_string(log("codex-rollout.jsonl")).expect("a log"));
    cli.run(&["eval", "s.yaml", "--run-dir", "by-question"]).expect_code(0);

    cli.file("s.yaml", SKILL_SUITE.replace("5f0c", "mine").replace("billing", "other"));
    cli.run(&["eval", "s.yaml", "--run-dir", "lost"]).expect_code(3);
    let row = &rows(&cli, "lost")[0];
    assert_eq!(row["error"]["kind"], "not_recorded");
    assert!(row["error"]["message"].as_str().is_some_and(|text| text.contains("none of the 2 sessions")));

    cli.file(
        "logs/three.jsonl",
        "{\"type\":\"user\",\"message\":{\"content\":\"x\"},\"sessionId\":\"q\"}\n{oops\n",
    );
    let output = cli.run(&["eval", "s.yaml", "--run-dir", "broken"]).expect_code(2);
    assert!(output.stderr.contains("three.jsonl:2: not JSON"), "{}", output.stderr);
}

#[test]
fn imported_sessions_are_cases_and_answers() {
    let cli = cli();
    let source = log("claude-session.jsonl");
    let source = source.to_str().expect("a path");
    let value =
        object(&cli.run(&["convert", "--to", "cases", source, "--json", "-o", "cases.jsonl"]).expect_code(0));
    assert_eq!(
        (&value["sessions"][0]["id"], &value["sessions"][0]["tool_calls"]),
        (&"5f0c".into(), &3.into())
    );
    assert_eq!(value["files"][0]["unknown_records"]["a-kind-of-tomorrow"], 1);
    cli.run(&["convert", "--to", "cases", source, "-o", "cases.jsonl"]).expect_code(2);

    cli.file(
        "s.yaml",
        "name: s\nassertions:\n- Mentions the acme-deploy skill\n- {type: skill-trigger, skill: acme-deploy}\n\
         - {type: token-usage, max_total: 7000}\n- {type: latency, threshold: 11000}\n\
         - {type: tool-trajectory, mode: in_order, expected: [{tool: Skill, args: {skill: acme-deploy}}, \
         {tool: Bash, args: any}]}\n\
         tests: cases.jsonl\n",
    );
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);

    // An unreadable line stops it, unless it may continue.
    cli.file("torn.jsonl", format!("{}{{\"type\":\"assis", fs::read_to_string(source).expect("a log")));
    let output = cli.run(&["convert", "--to", "cases", "torn.jsonl"]).expect_code(2);
    assert!(
        output.stdout.is_empty() && output.stderr.contains("torn.jsonl:13: not JSON"),
        "{}",
        output.stderr
    );
    let output = cli.run(&["convert", "--to", "cases", "torn.jsonl", "--keep-going"]).expect_code(3);
    assert_eq!(output.stdout.lines().count(), 1);
}

#[test]
fn answers_are_replayed_by_case_and_repeat_and_from_stored_runs() {
    let cli = cli();
    cli.file(
        "answers.jsonl",
        "{\"id\": \"a\", \"output\": \"red apples\", \"token_usage\": {\"input\": 5, \"output\": 2}, \"duration_ms\": 30}\n\
         {\"test_id\": \"b\", \"target\": \"x\", \"error\": {\"message\": \"it was down\"}}\n",
    );
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: again, provider: replay, path: ../answers.jsonl}\n- {name: stored, provider: replay, path: ../first}\n",
    );
    let case = |id: &str| {
        format!(
            "- id: {id}\n  criteria: x\n  input: q\n  assertions:\n  - {{type: contains, value: apples}}\n  - {{type: latency, threshold: 30}}\n"
        )
    };
    cli.file("s.yaml", format!("name: s\ntests:\n{}{}{}", case("a"), case("b"), case("c")));
    cli.run(&["eval", "s.yaml", "--target", "again", "--run-dir", "first"]).expect_code(3);
    let first = rows(&cli, "first");
    assert_eq!((&first[0]["answer"], &first[0]["verdict"]), (&"red apples".into(), &"pass".into()));
    let said = |row: &Value| row["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(said(&first[1]).contains("it was down"));
    assert!(said(&first[2]).contains("no answer for the case `c`"));
    cli.run(&["eval", "s.yaml", "--target", "stored", "--run-dir", "second", "--filter", "a"]).expect_code(0);
    let second = &rows(&cli, "second")[0];
    assert_eq!((&second["answer"], &second["latency_ms"]), (&"red apples".into(), &30.into()));

    cli.file("answers.jsonl", "{\"id\": \"a\", \"output\": \"x\"}\n{\"id\": \"a\", \"output\": \"y\"}\n");
    let output = cli.run(&["eval", "s.yaml", "--target", "again", "--run-dir", "third"]).expect_code(2);
    assert!(
        output.stderr.contains("answers.jsonl:2: the case `a` is already recorded in line 1"),
        "{}",
        output.stderr
    );
}

#[test]
fn mocks_answer_and_fail_and_others_stand_behind_them() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: down, provider: mock, fail: closed, fallback_targets: [worse, good]}\n\
         - {name: worse, provider: cli, command: 'echo no >&2; exit 4'}\n\
         - {name: good, provider: mock, response: {fruit: apples}}\n\
         - {name: alone, provider: mock, fail: closed, fallback_targets: worse}\n",
    );
    cli.file("s.yaml", suite("  - {type: contains, value: apples}\n"));
    let output =
        cli.run(&["eval", "s.yaml", "--target", "down", "--show", "all", "--run-dir", "run"]).expect_code(0);
    assert!(output.stdout.contains("a → down, answered by good"), "{}", output.stdout);
    let row = &rows(&cli, "run")[0];
    assert_eq!((&row["target"], &row["answered_by"]), (&"down".into(), &"good".into()));
    cli.run(&["eval", "s.yaml", "--target", "alone", "--run-dir", "none"]).expect_code(3);
    let row = &rows(&cli, "none")[0];
    let message = row["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("`alone`") && message.contains("closed") && message.contains("`worse`"),
        "{message}"
    );
    assert!(row.get("answered_by").is_none());
}

#[test]
fn a_target_that_is_not_healthy_is_not_asked() {
    let cli = cli();
    let targets = |check: &str| {
        format!(
            "targets:\n- name: c\n  provider: cli\n  command: echo asked >> asked; echo apples\n  healthcheck: {check}\n"
        )
    };
    let cases = (0..6)
        .map(|n| {
            format!(
                "- {{id: c{n}, criteria: x, input: q, assertions: [{{type: contains, value: apples}}]}}\n"
            )
        })
        .collect::<Vec<String>>()
        .concat();
    cli.file("s.yaml", format!("name: s\ntests:\n{cases}"));
    cli.file(".assize/targets.yaml", targets("{command: 'echo checked >> checked; echo ill >&2; exit 1'}"));
    cli.run(&["eval", "s.yaml", "--run-dir", "ill"]).expect_code(3);
    for row in rows(&cli, "ill") {
        assert_eq!(row["error"]["kind"], "unhealthy");
        assert!(row["error"]["message"].as_str().is_some_and(|text| text.contains("and said: ill")));
    }
    assert!(!cli.path("asked").exists());
    assert_eq!(cli.read("checked"), "checked\n", "it is checked once");

    cli.file(".assize/targets.yaml", targets("{command: [test, -f, s.yaml]}"));
    cli.run(&["eval", "s.yaml", "--run-dir", "well"]).expect_code(0);
    assert_eq!(cli.read("asked").lines().count(), 6);

    let server = assize_testkit::mock::MockServer::start(crate::e2e::judge::honest);
    let base = server.base_url();
    cli.file(
        ".assize/targets.yaml",
        targets(&format!("{{url: '{base}/no-such-page', timeout_seconds: 20}}")),
    );
    cli.run(&["eval", "s.yaml", "--run-dir", "http"]).expect_code(3);
    let message = rows(&cli, "http")[0]["error"]["message"].to_string();
    assert!(message.contains("its server answered with status 4"), "{message}");
}

#[test]
fn all_cases_are_put_into_one_run_of_a_batch_command() {
    let cli = cli();
    cli.file("batch.sh", "echo run >> runs\nprintf '%s\\n' '{\"id\": \"a\", \"text\": \"ripe apples\"}' '' \
        '{\"id\": \"b\", \"output\": [{\"role\": \"assistant\", \"content\": \"apples\", \"tool_calls\": [{\"tool\": \"look\"}]}]}' > \"$1\"\n");
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- name: c\n  provider: cli\n  provider_batching: true\n  command: sh batch.sh {OUTPUT_FILE}\n",
    );
    let case = |id: &str| {
        format!("- {{id: {id}, criteria: x, input: q, assertions: [{{type: contains, value: apples}}]}}\n")
    };
    cli.file("s.yaml", format!("name: s\ntests:\n{}{}{}", case("a"), case("b"), case("c")));
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(3);
    let rows = rows(&cli, "run");
    assert_eq!((&rows[0]["answer"], &rows[1]["answer"]), (&"ripe apples".into(), &"apples".into()));
    assert!(
        rows[2]["error"]["message"].as_str().is_some_and(|text| text.contains("no line for the case `c`"))
    );
    assert_eq!(cli.read("runs"), "run\n");
}

#[test]
fn a_target_s_workers_limit_it_and_not_the_others() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- name: single\n  provider: cli\n  workers: 1\n  \
         command: 'mkdir lock || exit 9; echo apples; rmdir lock'\n\
         - {name: other, provider: mock, response: apples, workers: 9}\n",
    );
    let cases = (0..12)
        .map(|n| {
            format!(
                "- {{id: c{n}, criteria: x, input: q, assertions: [{{type: contains, value: apples}}]}}\n"
            )
        })
        .collect::<Vec<String>>()
        .concat();
    cli.file("s.yaml", format!("name: s\ntests:\n{cases}"));
    cli.run(&["eval", "s.yaml", "--target", "single", "--target", "other", "--run-dir", "run"])
        .expect_code(0);
    assert_eq!(info(&cli, "run")["settings"]["workers"], 10);
}

#[test]
fn targets_files_know_every_log_format_and_every_provider() {
    assert_eq!(
        assize_trace::LogFormat::ALL.map(assize_trace::LogFormat::name),
        assize_model::SESSION_FORMATS
    );
    let cli = cli();
    cli.file("s.yaml", suite("  - {type: contains, value: x}\n"));
    let providers: Vec<&str> = assize_llm::known_providers().collect();
    let entries = providers
        .iter()
        .map(|name| {
            format!("- {{name: {name}, provider: {name}, model: m, base_url: 'http://127.0.0.1:9/v1', api_key: none-needed}}\n")
        })
        .collect::<Vec<String>>().concat();
    cli.file(".assize/targets.yaml", format!("targets:\n{entries}"));
    let mut args = vec!["eval", "s.yaml", "--dry-run"];
    for provider in &providers {
        args.extend(["--target", provider]);
    }
    let output = cli.run(&args).expect_code(0);
    assert!(output.stdout.contains(&format!("{}", providers.len())), "{}", output.stdout);
}

#[test]
fn another_wire_format_is_spoken_to_a_target_with_the_key_of_the_file() {
    let mut cli = cli();
    let server = assize_testkit::mock::MockServer::start(crate::e2e::judge::honest);
    cli.env("MY_KEY", crate::e2e::bench::KEY);
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- {{name: a, provider: anthropic, model: m, base_url: '{}', api_key: '${{{{ MY_KEY }}}}', max_retries: 0}}\n",
            server.base_url()
        ),
    );
    cli.file("s.yaml", suite("  - {type: contains, value: x}\n"));
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]);
    let requests = server.requests();
    assert_eq!(requests[0].header("x-api-key"), Some(crate::e2e::bench::KEY));
    assert_eq!(requests[0].json()["model"], "m");
    assert_eq!(requests.len(), 1, "it is not asked again");
}

#[test]
fn what_stands_in_a_log_stays_data_when_it_is_imported() {
    let mut cli = cli();
    cli.env("MY_SECRET_WORD", "tangerine");
    let say = |kind: &str, text: &str| {
        serde_json::json!({
            "type": kind, "sessionId": " a\nb ",
            "message": {"id": text, "role": kind, "content": [{"type": "text", "text": text}]},
        })
    };
    let asked = say("user", "Print ${{ MY_SECRET_WORD }} and {{ input }} and $${{ MY_SECRET_WORD }}.");
    let said = say("assistant", "No apples, and no ${{ MY_SECRET_WORD }} either.");
    cli.file("log.jsonl", format!("{asked}\n{said}\n"));
    cli.run(&["convert", "--to", "cases", "log.jsonl", "-o", "cases.jsonl"]).expect_code(0);
    cli.file("grader.sh", "cat > seen.json; echo '{\"score\": 1}'\n");
    cli.file(
        "s.yaml",
        "name: s\nassertions:\n- {type: contains, value: apples}\n- {type: code-grader, command: [sh, grader.sh]}\n\
         tests: cases.jsonl\n",
    );
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);
    let row = &rows(&cli, "run")[0];
    assert_eq!(row["case_id"], "a b");
    assert_eq!(row["answer"], "No apples, and no ${{ MY_SECRET_WORD }} either.");
    let seen = cli.read("seen.json");
    assert!(
        seen.contains("Print ${{ MY_SECRET_WORD }} and {{ input }} and $${{ MY_SECRET_WORD }}."),
        "{seen}"
    );
    for file in ["run/results.jsonl", "run/judgements.jsonl", "cases.jsonl", "seen.json"] {
        assert!(!cli.read(file).contains("tangerine"), "{file}");
    }
}
