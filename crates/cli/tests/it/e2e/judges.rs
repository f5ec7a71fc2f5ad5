//! Which judge is used: the precedence of settings, and models that judge themselves.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use crate::e2e::bench::{KEY, cli, holds, info, one_case, rows, with_server};
use crate::e2e::judge::honest;

/// A project that names a judge in every possible place, strongest first, except the places in `off`.
fn project(off: &[&str]) -> (CliTest, MockServer) {
    let (mut cli, server) = with_server(honest);
    let on = |what: &str, text: &str| if off.contains(&what) { String::new() } else { text.to_owned() };
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- name: t\n  provider: cli\n  command: echo apples\n{}- name: judge-target\n  provider: openai\n  \
             model: by-target\n  base_url: {}\n  api_key: ${{{{ OPENAI_API_KEY }}}}\n",
            on("target", "  grader_target: judge-target\n"),
            server.base_url()
        ),
    );
    cli.file(
        "s.yaml",
        format!(
            "name: s\nexecution:\n  target: t\n{}tests:\n- id: a\n  criteria: x\n  input: q\n  assertions:\n  \
             - type: rubrics\n{}    criteria:\n    - {{id: a, outcome: Names `apples`}}\n",
            on("suite", "  judge: openai:by-suite\n"),
            on("grader", "    judge: openai:by-grader\n")
        ),
    );
    if !off.contains(&"config") {
        cli.file(".assize/config.yaml", "judge: openai:by-config\n");
    }
    if !off.contains(&"environment") {
        cli.env("JUDGE_MODEL", "openai:by-environment");
    }
    (cli, server)
}

#[test]
fn the_strongest_choice_wins_in_the_documented_order() {
    let order = [
        ("command", "by-command", "--judge"),
        ("grader", "by-grader", "grader"),
        ("target", "by-target", "target"),
        ("suite", "by-suite", "eval file"),
        ("config", "by-config", "configuration"),
        ("environment", "by-environment", "JUDGE_MODEL"),
    ];
    for (position, (_, model, words)) in order.iter().enumerate() {
        let off: Vec<&str> = order[..position].iter().map(|(what, ..)| *what).collect();
        let (cli, server) = project(&off);
        let mut args = vec!["eval", "s.yaml", "--run-dir", "run"];
        if position == 0 {
            args.extend(["--judge", "openai:by-command"]);
        }
        cli.run(&args).expect_code(0);
        let models: Vec<String> = server
            .requests()
            .iter()
            .map(|request| request.json()["model"].as_str().expect("sound").to_owned())
            .collect();
        assert_eq!(models, [*model], "without {off:?}");
        let judge = &info(&cli, "run")["judges"][0];
        let chosen_by = judge["chosen_by"].as_str().expect("a text");
        assert!(chosen_by.contains(words), "{chosen_by}");
        assert_eq!(rows(&cli, "run")[0]["graders"][0]["criteria"][0]["judge"]["model"], **model);
    }
    let everything: Vec<&str> = order.iter().map(|(what, ..)| *what).collect();
    let (cli, server) = project(&everything);
    let output = cli.run(&["eval", "s.yaml", "--run-dir", "run"]);
    assert_eq!((server.count(), info(&cli, "run")["judges"][0]["name"].as_str()), (0, Some("offline")));
    assert!(output.stdout.contains("offline"), "the output says who judged");
}

#[test]
fn a_grader_may_name_its_judge_as_target_and_each_grader_its_own() {
    let (cli, server) = with_server(honest);
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n  assertions:\n  - name: one\n    type: rubrics\n    \
         target: openai:first\n    criteria: [{id: a, outcome: Names `apples`}]\n  - name: two\n    type: rubrics\n    judge: offline\n    \
         criteria: [{id: b, outcome: Names apples}]\n",
    );
    cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(0);
    let row = &rows(&cli, "run")[0];
    assert_eq!(row["graders"][0]["criteria"][0]["judge"]["model"], "first");
    assert_eq!(row["graders"][1]["criteria"][0]["judge"]["name"], "offline");
    assert_eq!(server.count(), 1);
    assert_eq!(info(&cli, "run")["judges"].as_array().map(Vec::len), Some(2));
}

#[test]
fn judges_that_do_not_exist_are_refused_before_anything_is_spent() {
    let (cli, server) = project(&[]);
    for (judge, words) in
        [("nobody", "nobody"), ("opnai:m", "opnai"), ("openai:", "openai"), ("judge-targt", "judge-target")]
    {
        let output = cli.run(&["eval", "s.yaml", "--judge", judge, "--run-dir", "run"]).expect_code(2);
        assert!(output.stderr.contains(words), "{judge}: {}", output.stderr);
        assert!(!cli.path("run").exists());
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_key_that_is_missing_is_named_before_anything_is_spent() {
    let cli = cli();
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]));
    let output = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]).expect_code(2);
    assert!(output.stderr.contains("OPENAI_API_KEY"), "{}", output.stderr);
    assert!(!cli.path(".assize").exists());
}

#[test]
fn a_model_that_judges_itself_is_warned_about_and_can_be_denied() {
    let (cli, server) = with_server(honest);
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: a\n  criteria: x\n  input: apples\n  assertions: [Names `apples`]\n",
    );
    let args = ["eval", "s.yaml", "--target", "openai:same", "--judge", "openai/same"];
    let output =
        cli.run(&[&args[..], &["--deny", "self-judging", "--run-dir", "run"]].concat()).expect_code(2);
    assert!(output.stderr.contains("same") && output.stderr.contains("judges its own"), "{}", output.stderr);
    assert_eq!((server.count(), output.stdout.as_str(), cli.path("run").exists()), (0, "", false));
    let output = cli.run(&[&args[..], &["--run-dir", "run"]].concat()).expect_code(0);
    assert!(output.stderr.contains("judges its own") || output.stdout.contains("judges its own"));
    let warnings = info(&cli, "run")["warnings"].to_string();
    assert!(warnings.contains("judges its own"), "{warnings}");
    let other =
        ["eval", "s.yaml", "--target", "openai:same", "--judge", "openai:other", "--deny", "self-judging"];
    cli.run(&other).expect_code(0);
}

#[test]
fn a_model_that_judges_itself_by_way_of_the_targets_file_is_noticed() {
    let (cli, server) = with_server(honest);
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- name: t\n  provider: openai\n  model: same\n  base_url: {url}\n  grader_target: j\n- name: j\n  \
             provider: openai\n  model: same\n  base_url: {url}\n",
            url = server.base_url()
        ),
    );
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: a\n  criteria: x\n  input: apples\n  assertions: [Names `apples`]\n",
    );
    cli.run(&["eval", "s.yaml", "--target", "t", "--deny", "self-judging"]).expect_code(2);
    assert_eq!(server.count(), 0);
}

#[test]
fn the_configuration_may_name_the_file_of_variables() {
    let (mut cli, server) = with_server(honest);
    cli.env("OPENAI_API_KEY", "");
    cli.file("s.yaml", one_case("apples", &["Names `apples`"]))
        .file(".assize/config.yaml", "judge: openai:m\nenv_file: keys.txt\n")
        .file("keys.txt", "JUDGE_MODEL=openai:other\n")
        .file("more.txt", "JUDGE_MODEL=openai:third\n");
    cli.run(&["eval", "s.yaml"]).expect_code(0);
    cli.file(".assize/config.yaml", "env_file: keys.txt\n");
    cli.run(&["eval", "s.yaml"]).expect_code(0);
    cli.run(&["eval", "s.yaml", "--env-file", "more.txt"]).expect_code(0);
    let models: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.json()["model"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(models, ["m", "other", "third"]);
}

#[test]
fn the_judge_of_the_environment_may_have_a_key_and_a_server_of_its_own() {
    const JUDGE_KEY: &str = "sk-judge-0123456789abcdef";
    let script =
        |_: &MockRequest| MockReply::Json(json!({ "evidence": [], "reason": "so", "outcome": "met" }));
    let server = MockServer::start(script);
    for (name, model) in [("gpt-x", "gpt-x"), ("Qwen/Qwen3-32B", "Qwen/Qwen3-32B"), ("openai:gpt-y", "gpt-y")]
    {
        // The provider's key is for another server.
        let (mut cli, usual) = with_server(script);
        cli.env("JUDGE_MODEL", name).env("JUDGE_BASE_URL", server.base_url()).env("JUDGE_API_KEY", JUDGE_KEY);
        cli.file("s.yaml", one_case("an answer", &["Is good"]));
        cli.run(&["eval", "s.yaml", "--run-dir", "run", "--quiet"]).expect_code(0);
        let sent = server.requests().pop().expect("a request");
        assert_eq!(sent.json()["model"], model);
        assert_eq!(sent.header("authorization"), Some(format!("Bearer {JUDGE_KEY}").as_str()));
        assert_eq!(usual.count(), 0);
        assert!(!holds(&cli.path("."), JUDGE_KEY), "the key is in no file");
        // A judge named differently uses the provider's server.
        cli.run(&["eval", "s.yaml", "--judge", "openai:other", "--quiet"]).expect_code(0);
        assert_eq!(usual.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
    // Without its own key, the judge does not get the provider's key; servers on this machine need none.
    let (mut cli, usual) = with_server(script);
    cli.env("JUDGE_MODEL", "gpt-x").env("JUDGE_BASE_URL", server.base_url());
    cli.file("s.yaml", one_case("an answer", &["Is good"]));
    cli.run(&["eval", "s.yaml", "--quiet"]).expect_code(0);
    assert_eq!(server.requests().pop().expect("a request").header("authorization"), None);
    cli.env("JUDGE_BASE_URL", "https://judge.example.com/v1");
    let refused = cli.run(&["eval", "s.yaml", "--no-cache"]).expect_code(2);
    assert!(
        refused.stderr.contains("no API key for judge.example.com: set JUDGE_API_KEY"),
        "{}",
        refused.stderr
    );
    assert_eq!(usual.count(), 0);
}

#[test]
fn a_target_that_judges_is_told_which_settings_have_no_effect() {
    let (cli, server) = with_server(|_: &MockRequest| {
        MockReply::Json(json!({"evidence": [], "reason": "so", "outcome": "met"}))
    });
    cli.file(
        ".assize/targets.yaml",
        "targets:\n  - {name: tuned, provider: openai, model: m, temperature: 0.9, seed: 3}\n",
    );
    cli.file("s.yaml", one_case("an answer", &["Is good"]));
    let said = cli.run(&["eval", "s.yaml", "--judge", "tuned", "--run-dir", "r"]).expect_code(0).stdout;
    let words: Vec<&str> = said.split_whitespace().collect();
    let said = words.join(" ");
    assert!(
        said.contains("target `tuned` judges, where its `temperature` and `seed` have no effect"),
        "{said}"
    );
    assert_eq!(server.requests()[0].json()["temperature"].as_f64(), Some(0.0));
}

#[test]
fn what_all_cases_lack_is_said_once_with_the_first_place() {
    let cli = cli();
    let case = |n: u32| format!("- {{id: c{n}, input: q, output: o, assertions: [x]}}\n");
    cli.file("s.yaml", format!("tests:\n{}", (0..12).map(case).collect::<String>()));
    let said = cli.run(&["eval", "s.yaml", "--judge", "openai:m"]).expect_code(2).stderr;
    assert!(said.contains("--judge: judge `openai:m`") && !said.contains("s.yaml:"), "{said}");

    cli.file(
        "own.yaml",
        format!("execution: {{judge: openai:m}}\ntests:\n{}", (0..12).map(case).collect::<String>()),
    );
    let said = cli.run(&["eval", "own.yaml"]).expect_code(2).stderr;
    assert!(said.contains("own.yaml:1:20: judge `openai:m`"), "{said}");
}
