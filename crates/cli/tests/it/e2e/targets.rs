//! Where answers come from: given answers, models, commands, several at once.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{KEY, cli, info, object, rows, with_server};
use crate::e2e::judge::honest;

const SUITE: &str =
    "name: s\ntests:\n- id: a\n  criteria: x\n  input: apples\n  assertions: [Names `apples`]\n";

#[test]
fn given_answers_of_every_form_are_taken_as_they_are() {
    let cli = cli();
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- {id: text, criteria: x, input: q, output: ripe apples, assertions: [apples]}\n\
         - {id: object, criteria: x, input: q, output: {fruit: ripe apples}, assertions: [apples]}\n\
         - id: messages\n  criteria: x\n  input: q\n  output:\n  - {role: user, content: pears}\n  \
         - {role: assistant, content: ripe apples}\n  assertions: [apples]\n",
    );
    cli.run(&["eval", "s.yaml", "--target", "nowhere", "--run-dir", "run"]).expect_code(0);
    let rows = rows(&cli, "run");
    assert_eq!(rows[0]["answer"], "ripe apples");
    assert_eq!(rows[1]["answer"], "{\n  \"fruit\": \"ripe apples\"\n}");
    assert_eq!(rows[2]["answer"], "ripe apples");
    assert!(rows.iter().all(|row| row["target"].is_null()));
}

#[test]
fn a_model_of_the_targets_file_is_asked_with_its_settings() {
    for folder in [".assize", ".agentv"] {
        let (mut cli, server) = with_server(honest);
        cli.env("MY_URL", server.base_url()).env("MY_KEY", KEY).env("MY_MODEL", "answerer");
        cli.file(
            format!("{folder}/targets.yaml"),
            "targets:\n- name: mine\n  provider: openai-compatible\n  model: ${{ MY_MODEL }}\n  base_url: ${{ MY_URL }}\n  \
             api_key: ${{ MY_KEY }}\n  temperature: 0.5\n",
        );
        cli.file("s.yaml", SUITE);
        let value = object(
            &cli.run(&["eval", "s.yaml", "--judge", "openai:judge", "--json", "--run-dir", "run"])
                .expect_code(0),
        );
        let requests = server.requests();
        let first = requests[0].json();
        assert_eq!(
            (first["model"].as_str(), first["temperature"].as_f64()),
            (Some("answerer"), Some(0.5)),
            "{folder}"
        );
        assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        let row = &rows(&cli, "run")[0];
        assert_eq!((row["target"].as_str(), row["answer"].as_str()), (Some("mine"), Some("apples")));
        assert_eq!(info(&cli, "run")["targets"][0]["name"], "mine");
        assert_eq!(value["judge_calls"], 1, "the target's call is no judge call");
        assert_eq!(requests.len(), 2);
    }
}

/// Runs one case with a command given as YAML, and returns the row.
fn command(cli: &CliTest, id: &str, input: &str, command: &str) -> Value {
    cli.file(".assize/targets.yaml", format!("targets:\n- name: c\n  provider: cli\n  command: {command}\n"));
    let (id, input) = (Value::from(id), Value::from(input));
    cli.file(
        "s.yaml",
        format!("name: s\ntests:\n- id: {id}\n  criteria: x\n  input: {input}\n  assertions: [Says hello]\n"),
    );
    let run = format!("run-{}", std::fs::read_dir(cli.dir()).expect("sound").count());
    let output = cli.run(&["eval", "s.yaml", "--run-dir", &run]);
    assert!(output.code.is_some_and(|code| code != 2), "{output:?}");
    rows(cli, run).remove(0)
}

const NASTY: &str =
    "it's \"quoted\" $HOME `touch x` $(touch x); touch x\n\\ | & > x < y * ? {PROMPT} %s\n\n-n --flag ünï";

#[test]
fn prompts_reach_commands_word_for_word_and_are_never_run() {
    let cli = cli();
    for template in [
        "printf %s {PROMPT}",
        "printf %s \"{PROMPT}\"",
        "printf %s '{PROMPT}'",
        "cat {PROMPT_FILE}",
        "cat \"{PROMPT_FILE}\"",
        "cat < {PROMPT_FILE} > {OUTPUT_FILE}",
        "printf %s {PROMPT} > '{OUTPUT_FILE}'; echo noise",
    ] {
        let row = command(&cli, "c", NASTY, &Value::from(template).to_string());
        assert_eq!(row["answer"].as_str(), Some(NASTY), "{template}");
        assert_eq!(row["target"], "c");
    }
    let row = command(&cli, "c", NASTY, r#"["printf", "%s", "{PROMPT}"]"#);
    assert_eq!(row["answer"].as_str(), Some(NASTY));
    assert!(!cli.path("x").exists(), "something in the prompt was run");
}

#[test]
fn ids_with_slashes_and_quotes_are_handed_over_and_lead_nowhere() {
    let cli = cli();
    for id in ["a/../../b c", "../../etc/passwd", "it's $(touch x)", "ü—é"] {
        let row = command(
            &cli,
            id,
            "q",
            r#""cat {PROMPT_FILE} > {OUTPUT_FILE}; printf %s {EVAL_ID} >> {OUTPUT_FILE}""#,
        );
        assert_eq!(row["answer"].as_str(), Some(format!("q{id}").as_str()));
        assert_eq!(row["case_id"].as_str(), Some(id));
    }
    assert!(!cli.path("x").exists());
}

#[test]
fn a_command_that_fails_leaves_its_case_incomplete_and_the_others_fine() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- name: c\n  provider: cli\n  command: \"case {PROMPT} in *bad*) echo the last words >&2; exit 7;; \
         *) printf '%s' {PROMPT};; esac\"\n",
    );
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- {id: a, criteria: x, input: bad, assertions: [apples]}\n\
         - {id: b, criteria: x, input: apples, assertions: [apples]}\n",
    );
    let output = cli.run(&["eval", "s.yaml", "--run-dir", "run"]).expect_code(3);
    assert!(output.stdout.contains("the last words"), "{}", output.stdout);
    let rows = rows(&cli, "run");
    let error = &rows[0]["error"];
    assert_eq!(
        (rows[0]["verdict"].as_str(), &rows[0]["score"], &rows[0]["answer"]),
        (Some("incomplete"), &Value::Null, &Value::Null)
    );
    assert_eq!((error["stage"].as_str(), error["kind"].as_str()), (Some("target"), Some("failed")));
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("the last words") && text.contains('7')),
        "{error}"
    );
    assert_eq!(rows[1]["verdict"], "pass");
    cli.run(&["explain", "run", "a"]).expect_code(0);
}

#[test]
fn commands_that_do_not_exist_hang_or_write_nothing_are_told_apart() {
    let cli = cli();
    let kind = |text: &str| {
        let row = command(&cli, "c", "q", text);
        assert_eq!(row["verdict"], "incomplete");
        row["error"]["kind"].as_str().expect("a kind").to_owned()
    };
    assert_eq!(kind("[./absent-program]"), "not_started");
    assert_eq!(kind("absent-program-4711"), "failed");
    assert_eq!(kind("\"true {OUTPUT_FILE}\""), "no_answer");
    assert_eq!(kind("exec sleep 600\n  timeout_seconds: 0.2"), "timeout");
}

#[test]
fn two_targets_answer_every_case() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: good, provider: cli, command: echo apples}\n- {name: bad, provider: cli, command: echo pears}\n",
    );
    let suite = "tests:\n- {id: a, criteria: x, input: q, assertions: [apples]}\n\
                 - {id: b, criteria: x, input: q, assertions: [apples]}\n";
    cli.file("file.yaml", format!("name: s\nexecution: {{targets: [good, bad]}}\n{suite}"));
    cli.file("line.yaml", format!("name: s\n{suite}"));
    for args in [&["file.yaml"][..], &["line.yaml", "--target", "good", "--target", "bad"]] {
        let run = format!("run-{}", args.len());
        let value = object(&cli.run(&[&["eval", "--json", "--run-dir", &run], args].concat()).expect_code(1));
        assert_eq!((value["counts"]["pass"].as_u64(), value["counts"]["fail"].as_u64()), (Some(2), Some(2)));
        let table: Vec<String> = rows(&cli, &run)
            .iter()
            .map(|row| format!("{} {} {}", row["case_id"], row["target"], row["verdict"]).replace('"', ""))
            .collect();
        assert_eq!(table, ["a bad fail", "a good pass", "b bad fail", "b good pass"]);
        let one = cli.run(&["explain", &run, "a", "--target", "good", "--json"]).expect_code(0);
        assert!(object(&one).to_string().contains("good"));
    }
    // A target that is named twice answers once, because its rows could not be told apart.
    let value = object(
        &cli.run(&["eval", "line.yaml", "--target", "good", "--target", "good", "--json"]).expect_code(0),
    );
    assert_eq!(value["counts"]["pass"], 2);
}

#[test]
fn unknown_targets_and_missing_variables_are_refused_before_anything_is_spent() {
    let (cli, server) = with_server(honest);
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- name: local\n  provider: openai\n  model: m\n  base_url: {}\n- name: needy\n  provider: openai\n  \
             model: m\n  api_key: ${{{{ MY_MISSING_KEY }}}}\n- name: later\n  provider: vscode\n  model: m\n",
            server.base_url()
        ),
    );
    cli.file("s.yaml", SUITE);
    for (target, words) in [
        ("locl", "did you mean `local`?"),
        ("needy", "MY_MISSING_KEY"),
        ("later", "not supported yet"),
        ("opnai:x", "opnai"),
    ] {
        let output = cli
            .run(&["eval", "s.yaml", "--target", "local", "--target", target, "--run-dir", "run"])
            .expect_code(2);
        assert!(output.stderr.contains(words), "{target}: {}", output.stderr);
        assert!(!cli.path("run").exists());
    }
    // No target was named, and there is no default among several.
    let output = cli.run(&["eval", "s.yaml"]).expect_code(2);
    assert!(output.stderr.contains("--target"), "{}", output.stderr);
    assert_eq!(server.count(), 0);
}

#[test]
fn models_on_bedrock_and_vertex_answer_and_judge() {
    let met = json!({ "evidence": [], "reason": "says so", "outcome": "met" });
    let (mut cli, server) = with_server(move |incoming: &MockRequest| {
        let body = &incoming.body;
        let judges = ["/toolConfig", "/generationConfig/responseJsonSchema"]
            .iter()
            .any(|at| body.pointer(at).is_some());
        if judges { MockReply::Json(met.clone()) } else { MockReply::text("ripe apples") }
    });
    let root = server.base_url().trim_end_matches("/v1").to_owned();
    cli.env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", &root)
        .env("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-0123456789");
    cli.env("VERTEX_BASE_URL", &root).env("VERTEX_ACCESS_TOKEN", "ya29.token-0123456789");
    cli.file(
        ".agentv/targets.yaml",
        "targets:\n- name: aws\n  provider: bedrock\n  model: eu.anthropic.claude-x-v1:0\n  region: eu-west-1\n\
         - name: gcp\n  provider: vertex\n  model: gemini-x\n  project: my-project\n  location: europe-west4\n",
    );
    cli.file("s.yaml", SUITE);
    for (target, path, key) in [
        ("aws", "/model/eu.anthropic.claude-x-v1%3A0/converse", "Bearer bedrock-api-key-0123456789"),
        (
            "gcp",
            "/v1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-x:generateContent",
            "Bearer ya29.token-0123456789",
        ),
    ] {
        let before = server.requests().len();
        let output = cli.run(&["eval", "s.yaml", "--target", target, "--judge", target, "--run-dir", target]);
        assert_eq!(output.code, Some(0), "{target}: {}{}", output.stdout, output.stderr);
        let requests = server.requests();
        assert_eq!(requests.len() - before, 2, "{target}: an answer and a judgement");
        for request in &requests[before..] {
            assert_eq!(
                (request.path.as_str(), request.header("authorization")),
                (path, Some(key)),
                "{target}"
            );
        }
        assert!(!cli.read(format!("{target}/run.json")).contains("0123456789"), "{target}");
    }
    // Without an endpoint, no request is sent.
    let bare = self::cli();
    bare.file("s.yaml", SUITE);
    for (judge, variable) in [("bedrock:m", "AWS_REGION"), ("vertex:m", "GOOGLE_CLOUD_PROJECT")] {
        let output = bare.run(&["eval", "s.yaml", "--target", judge]);
        assert_eq!(output.code, Some(2), "{judge}");
        assert!(output.stderr.contains(variable), "{judge}: {}", output.stderr);
    }
}

#[test]
fn commands_run_beside_the_eval_file_and_are_given_absolute_paths() {
    let cli = cli();
    cli.file("project/evals/att.txt", "apples");
    cli.file("project/mark", "");
    cli.file(
        "project/.assize/targets.yaml",
        "targets:\n- {name: here, provider: cli, command: 'ls att.txt > /dev/null && cat {FILES}'}\n\
         - {name: above, provider: cli, cwd: .., command: 'test -f mark && cat {FILES} && echo {PROMPT}'}\n\
         - {name: checked, provider: cli, command: 'cat {FILES}', healthcheck: {command: 'test -f mark', cwd: ..}}\n",
    );
    let case = |id: &str| {
        format!(
            "- {{id: {id}, input: q, input_files: [att.txt], execution: {{target: {id}}}, \
             assertions: [{{type: contains, value: apples}}]}}\n"
        )
    };
    let cases = format!("{}{}{}", case("here"), case("above"), case("checked"));
    cli.file("project/evals/s.yaml", format!("tests:\n{cases}"));
    cli.run(&["eval", "project/evals/s.yaml", "--run-dir", "run"]).expect_code(0);
    let rows = rows(&cli, "run");
    let above = rows.iter().find(|row| row["case_id"] == "above").expect("a row");
    let answer = above["answer"].as_str().expect("an answer");
    let file = answer.split("[file: ").nth(1).and_then(|rest| rest.split(']').next()).expect("a reference");
    assert!(std::path::Path::new(file).is_absolute(), "{answer}");

    // From the folder of the eval file as well, and in a workspace.
    cli.file("project/evals/w.yaml", format!("workspace: {{template: ./tpl}}\ntests:\n{}", case("here")));
    cli.file("project/evals/tpl/att.txt", "");
    cli.run(&["eval", "project/evals/w.yaml", "--run-dir", "in-workspace"]).expect_code(0);
}

#[test]
fn a_broken_target_stops_only_those_who_use_it() {
    let cli = cli();
    cli.file(
        ".assize/targets.yaml",
        "targets:\n- {name: good, provider: mock, response: apples}\n- {name: odd, provider: cc-mirror}\n\
         - {name: log, provider: copilot-log, discover: latest}\n",
    );
    cli.file("s.yaml", "tests:\n- {id: a, input: q, assertions: [{type: contains, value: apples}]}\n");
    let output = cli.run(&["eval", "s.yaml", "--target", "good", "--run-dir", "run"]).expect_code(0);
    assert!(output.stderr.contains("warning[E0602]: unknown provider `cc-mirror`"), "{}", output.stderr);
    for (name, reason) in [("odd", "unknown provider `cc-mirror`"), ("log", "a recording needs `path`")] {
        let output = cli.run(&["eval", "s.yaml", "--target", name, "--run-dir", name]).expect_code(2);
        let refusal = format!("target `{name}`: {reason}");
        assert!(output.stderr.contains(&refusal), "{}", output.stderr);
    }
}
