//! The key of a server is sent and appears nowhere else.

use assize_testkit::cli::{CliOutput, CliTest};
use assize_testkit::mock::{MockReply, MockRequest, MockServer, always};

use crate::e2e::bench::{self, KEY, holds, one_case, with_server};
use crate::e2e::judge::honest;

#[track_caller]
fn unseen(cli: &CliTest, output: &CliOutput) {
    assert!(!output.stdout.contains(KEY), "{}", output.stdout);
    assert!(!output.stderr.contains(KEY), "{}", output.stderr);
    assert!(!holds(cli.dir(), KEY), "a file holds the key");
}

#[test]
fn a_sound_run_sends_the_key_and_stores_it_nowhere() {
    let (cli, server) = with_server(honest);
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]).expect_code(0);
    unseen(&cli, &output);
    let sent = format!("Bearer {KEY}");
    assert_eq!(server.requests()[0].header("authorization"), Some(sent.as_str()));
    unseen(&cli, &cli.run(&["explain", "last", "only", "--json"]).expect_code(0));
}

#[test]
fn a_refused_key_names_its_variable_and_not_its_value() {
    let body = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}\"}}}}");
    let (cli, server) = with_server(always(MockReply::status(401, body)));
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]).expect_code(3);
    assert!(output.stdout.contains("OPENAI_API_KEY"), "{}", output.stdout);
    assert_eq!(server.count(), 1, "a refused key is not tried again");
    unseen(&cli, &output);
}

#[test]
fn servers_that_echo_the_key_do_not_spread_it() {
    for reply in [
        MockReply::status(400, format!("{{\"error\":{{\"message\":\"header was Bearer {KEY}\"}}}}")),
        MockReply::Raw(format!("you sent {KEY}")),
        MockReply::text(format!("not JSON, but {KEY}")),
        MockReply::text(format!(
            "{{\"evidence\": [\"{KEY}\"], \"reason\": \"{KEY}\", \"outcome\": \"met\"}}"
        )),
        MockReply::Refusal(format!("no, {KEY}")),
    ] {
        let (cli, _server) = with_server({
            let reply = reply.clone();
            // The next request gets a good answer, so that retries take no time.
            move |incoming: &MockRequest| if incoming.index == 0 { reply.clone() } else { honest(incoming) }
        });
        cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
        let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]);
        unseen(&cli, &output);
    }
}

#[test]
fn a_targets_key_is_kept_as_well() {
    let body = format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}");
    let (cli, server) = with_server(always(MockReply::status(401, body)));
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- name: t\n  provider: openai\n  model: m\n  base_url: {}\n  api_key: ${{{{ OPENAI_API_KEY }}}}\n",
            server.base_url()
        ),
    );
    cli.file("s.yaml", "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  assertions: [Says hello]\n");
    let output = cli.run(&["eval", "s.yaml", "--target", "t", "--judge", "offline"]).expect_code(3);
    assert!(output.stdout.contains("API key"), "{}", output.stdout);
    assert_eq!(server.count(), 1);
    unseen(&cli, &output);
}

#[test]
fn a_file_of_variables_is_read_and_what_is_set_wins() {
    let (mut cli, server) = with_server(honest);
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    cli.file("keys/env", "OPENAI_API_KEY=from-the-file\nJUDGE_MODEL=openai:from-file\n");
    cli.run(&["eval", "s.yaml", "--env-file", "keys/env"]).expect_code(0);
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(request.json()["model"], "from-file");
    cli.env("JUDGE_MODEL", "openai:from-environment");
    cli.file(".env", "JUDGE_MODEL=openai:from-dot-env\n");
    cli.run(&["eval", "s.yaml"]).expect_code(0);
    assert_eq!(server.requests()[1].json()["model"], "from-environment");
    cli.file(".env", format!("{KEY} is no assignment\n"));
    let output = cli.run(&["eval", "s.yaml"]).expect_code(2);
    assert!(output.stderr.contains(".env") && !output.stderr.contains(KEY), "{}", output.stderr);
    assert_eq!(server.count(), 2);
}

#[test]
fn variables_of_the_only_project_below_a_folder_are_read() {
    let server = MockServer::start(honest);
    let mut cli = bench::cli();
    cli.env("OPENAI_BASE_URL", server.base_url());
    cli.file("app/.assize/config.yaml", "judge: openai:m\n")
        .file("app/.env", format!("OPENAI_API_KEY={KEY}\n"));
    cli.file("app/s.eval.yaml", one_case("apples", &["Names `apples`"]));
    cli.run(&["eval", "."]).expect_code(0);
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[test]
fn what_a_failing_command_says_is_kept_without_the_secrets_it_inherited() {
    let (cli, _server) = with_server(honest);
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: c, provider: cli, command: 'set -x; : $OPENAI_API_KEY; exit 3'}\n",
    );
    cli.file("s.yaml", "name: s\ntests:\n- {id: a, criteria: x, input: q, assertions: [hello]}\n");
    let output = cli.run(&["eval", "s.yaml"]).expect_code(3);
    assert!(output.stdout.contains("[redacted]"), "{}", output.stdout);
    unseen(&cli, &output);
}

#[test]
fn what_a_command_answers_is_judged_and_kept_without_the_secrets_it_inherited() {
    let (mut cli, server) = with_server(honest);
    cli.env("TEAM_TOKEN", "team/secret+0123456789");
    let messages = r#"[{\"role\":\"assistant\",\"content\":\"%s\",\"tool_calls\":[{\"tool\":\"env\",\"input\":{\"a\":[\"%s\"]},\"output\":\"%s\"}]}]"#;
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- {{name: c, provider: cli, command: 'echo apples $OPENAI_API_KEY $TEAM_TOKEN'}}\n\
             - name: m\n  provider: cli\n  command: >-\n    printf \"{{\\\"output_messages\\\": {}}}\" \
             \"apples $OPENAI_API_KEY\" \"$TEAM_TOKEN\" \"$OPENAI_API_KEY\" > {{OUTPUT_FILE}}\n",
            messages.replace('"', "\\\"").replace("\\\\", "\\")
        ),
    );
    cli.file("s.yaml", "name: s\ntests:\n- {id: a, criteria: x, input: q, assertions: ['Names `apples`']}\n");
    for target in ["c", "m"] {
        let args = ["eval", "s.yaml", "--judge", "openai:m", "--target", target, "--run-dir", target];
        let output = cli.run(&args).expect_code(0);
        unseen(&cli, &output);
        assert!(!holds(cli.dir(), "team/secret"), "a file holds the token");
        assert!(cli.read(format!("{target}/results.jsonl")).contains("[redacted]"));
    }
    assert!(server.requests().iter().all(|request| {
        let body = String::from_utf8_lossy(&request.body);
        body.contains("[redacted]") && !body.contains(KEY) && !body.contains("team/secret")
    }));
}

#[test]
fn credentials_in_an_address_are_kept() {
    let mut cli = crate::e2e::bench::cli();
    cli.env("OPENAI_BASE_URL", "ftp://user:never-shown-either@127.0.0.1/v1").env("OPENAI_API_KEY", KEY);
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]).expect_code(2);
    assert!(!output.stderr.contains("never-shown-either"), "{}", output.stderr);
    unseen(&cli, &output);
}

#[test]
fn a_key_of_the_environment_is_not_sent_where_a_file_of_the_folder_leads() {
    const FAR: &str = "http://far.invalid/v1";

    for (key, address) in [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("GEMINI_API_KEY", "GEMINI_BASE_URL"),
        ("GROQ_API_KEY", "GROQ_BASE_URL"),
        ("OLLAMA_API_KEY", "OLLAMA_HOST"),
        ("JUDGE_API_KEY", "JUDGE_BASE_URL"),
    ] {
        let provider = match key.split_once('_').map_or("", |(name, _)| name) {
            "JUDGE" => "openai".to_owned(),
            name => name.to_ascii_lowercase(),
        };
        let server = MockServer::start(honest);
        let mut cli = bench::cli();
        cli.env(key, KEY).env("JUDGE_MODEL", format!("{provider}:m"));
        cli.file("s.yaml", one_case("apples", &["Names `apples`"]));

        // Requests to a server on this machine don't contain the key.
        cli.file(".env", format!("{address}={}\n", server.base_url()));
        cli.run(&["eval", "s.yaml"]);
        cli.run(&["doctor", "--check"]);
        for request in server.requests() {
            assert!(!format!("{request:?}").contains(KEY), "{address}: {request:?}");
        }

        // A remote server is not asked.
        cli.file(".env", format!("{address}={FAR}\n"));
        let output = cli.run(&["eval", "s.yaml"]).expect_code(2);
        let said = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("is not sent to far.invalid"), "{address}: {said}");
        let said = cli.run(&["doctor", "--check"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("is not sent to far.invalid"), "{address}: {said}");
    }
}

#[test]
fn a_target_that_takes_its_address_from_a_file_gets_no_key_of_the_environment() {
    let server = MockServer::start(honest);
    let mut cli = bench::cli();
    cli.env("OPENAI_API_KEY", KEY);
    cli.file(".env", format!("SOME_ADDRESS={}\nOTHER=${{OPENAI_API_KEY}}\n", server.base_url()));
    cli.file("s.yaml", "tests: [{id: a, input: q, criteria: x, assertions: [{type: contains, value: x}]}]\n");
    for key in ["${{ OPENAI_API_KEY }}", "${{ OTHER }}"] {
        let target = format!(
            "targets: [{{name: t, provider: openai, model: m, base_url: '${{{{ SOME_ADDRESS }}}}', api_key: '{key}'}}]\n"
        );
        cli.file(".assize/targets.yaml", target);
        cli.run(&["eval", "s.yaml", "--target", "t", "--judge", "offline"]);
    }
    for request in server.requests() {
        assert!(!format!("{request:?}").contains(KEY), "{request:?}");
    }

    // A file that puts a secret into an address is not read at all.
    cli.file(".env", "GROQ_API_KEY=file-key-0123\nGROQ_BASE_URL=http://far.invalid/${OPENAI_API_KEY}\n");
    let output = cli.run(&["lint", "s.yaml"]).expect_code(2);
    assert!(
        output.stderr.contains("a variable of the environment") && !output.stderr.contains(KEY),
        "{}",
        output.stderr
    );
}

#[test]
fn secrets_of_the_environment_are_stored_nowhere() {
    // A judge that repeats its input.
    let said = r#"{"evidence": [], "reason": "it says team-secret-0123456789", "outcome": "met"}"#;
    let (mut cli, _server) = with_server(always(MockReply::text(said)));
    cli.env("TEAM_TOKEN", "team-secret-0123456789").env("HARMLESS", "ghp_0123456789abcdefghijklmnop");

    // An answer or a judge that repeats it does not get it stored.
    cli.file(
        "s.yaml",
        one_case("apples team-secret-0123456789 ghp_0123456789abcdefghijklmnop", &["Says apples"]),
    );
    let output = cli
        .run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run", "--show", "all"])
        .expect_code(0);
    let explained = cli.run(&["explain", "run", "only", "--json"]).expect_code(0);
    let stored =
        cli.read("run/results.jsonl") + &cli.read("run/judgements.jsonl") + &cli.read("run/questions.jsonl");
    for text in [stored, output.stdout, output.stderr, explained.stdout] {
        assert!(!text.contains("team-secret") && !text.contains("ghp_0123"), "{text}");
    }
    assert!(cli.read("run/results.jsonl").contains("apples [redacted] [redacted]"));
}

#[test]
fn a_key_that_a_file_sends_to_somebody_else_is_told_and_can_be_denied() {
    let warns = |cli: &CliTest, more: &[&str]| {
        let eval = ["eval", "s.yaml", "--target", "t", "--judge", "offline", "--dry-run"];
        cli.run(&[&eval[..], more].concat())
    };
    let target = |address: &str, key: &str| {
        format!(
            "targets: [{{name: t, provider: openai, model: m, base_url: '{address}', api_key: '${{{{ {key} }}}}'}}]\n"
        )
    };
    let mut cli = bench::cli();
    cli.env("OPENAI_API_KEY", KEY).env("FAR_KEY", KEY).env("FAR_URL", "https://far.invalid/v2");
    cli.file("s.yaml", "tests: [{id: a, input: q, criteria: x, assertions: [{type: contains, value: x}]}]\n");

    cli.file(".assize/targets.yaml", target("https://far.invalid/v1", "OPENAI_API_KEY"));
    let output = warns(&cli, &[]).expect_code(0);
    let said = output.stdout + &output.stderr;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("sends OPENAI_API_KEY to https://far.invalid"), "{said}");
    let denied = warns(&cli, &["--deny", "exposed-keys"]).expect_code(2);
    assert!(denied.stderr.contains("far.invalid") && denied.stderr.contains("denied"), "{}", denied.stderr);

    // The key is sent with the request, whichever setting names it.
    for settings in [
        "base_url: 'https://far.invalid/v1', api_key: 'x${{ OPENAI_API_KEY }}'",
        "base_url: 'https://far.invalid/${{ OPENAI_API_KEY }}/v1', api_key: own",
        "base_url: 'https://far.invalid/v1', api_key: own, model: 'm-${{ OPENAI_API_KEY }}'",
        "api_key: '${{ OPENAI_API_KEY }}', provider: anthropic",
        "base_url: 'http://localhost:9/v1', healthcheck: {url: 'https://far.invalid/?k=${{ OPENAI_API_KEY }}'}",
    ] {
        let more: Vec<&str> = ["provider: openai, ", "model: m, "]
            .into_iter()
            .filter(|setting| !settings.contains(setting.split(' ').next().unwrap_or_default()))
            .collect();
        let more = more.concat();
        cli.file(".assize/targets.yaml", format!("targets: [{{name: t, {more}{settings}}}]\n"));
        let denied = warns(&cli, &["--deny", "exposed-keys"]).expect_code(2);
        assert!(denied.stderr.contains("sends OPENAI_API_KEY to"), "{settings}: {}", denied.stderr);
        assert!(!denied.stderr.contains(KEY), "{settings}: {}", denied.stderr);
    }

    // Chosen by the user: an address in a variable, a server of the provider.
    for (address, key, is_chosen) in [
        ("${{ FAR_URL }}", "OPENAI_API_KEY", true),
        ("${{ FAR_URL }}", "FAR_KEY", true),
        ("https://eu.api.openai.com/v1", "OPENAI_API_KEY", true),
        ("https://far.invalid/v1", "FAR_KEY", false),
        ("http://localhost:9/v1", "OPENAI_API_KEY", false),
    ] {
        cli.file(".assize/targets.yaml", target(address, key));
        let output = warns(&cli, &["--deny", "exposed-keys"]);
        assert_eq!(output.code, Some(if is_chosen { 0 } else { 2 }), "{address} {key}: {}", output.stderr);
    }

    cli.file(".assize/targets.yaml", target("http://far.invalid/v1", "FAR_KEY"));
    let denied = warns(&cli, &["--deny", "exposed-keys"]).expect_code(2);
    assert!(denied.stderr.contains("unencrypted"), "{}", denied.stderr);
}

#[cfg(unix)]
#[test]
fn other_users_of_the_machine_read_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let (cli, _server) = with_server(honest);
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- name: c\n  provider: cli\n  command: 'echo apples $(stat -c %a $(dirname {PROMPT_FILE}) \
         $(dirname {MESSAGES_FILE}))'\n",
    );
    cli.file("s.yaml", "name: s\ntests:\n- {id: a, criteria: x, input: q, assertions: ['Names `apples`']}\n");
    cli.run(&["eval", "s.yaml", "--target", "c", "--judge", "openai:m", "--run-dir", "run"]).expect_code(0);
    let rows = cli.read("run/results.jsonl");
    assert!(rows.contains("apples 700 700"), "{rows}");

    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    for folder in ["run", ".assize/cache"] {
        let folder = cli.path(folder);
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("there").filter_map(Result::ok) {
            let wanted = if entry.path().is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&entry.path()), wanted, "{}", entry.path().display());
        }
    }
}
