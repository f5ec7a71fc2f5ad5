//! Incomplete answers, and who judges a fallback's answer: none of this may pass.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest};
use serde_json::{Value, json};

use crate::e2e::bench::{cli, info, rows, with_server};
use crate::e2e::judge::honest;

/// A suite that passes every answer without "bye".
const SILENT: &str = "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  assertions:\n  \
                      - {type: contains, value: bye, negate: true}\n";

/// A suite with a criterion for a judge.
const JUDGED: &str = "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  assertions: [Names `apples`]\n";

/// The message of the error of the only case of a run.
fn error_of(cli: &CliTest, run: &str) -> String {
    let row = rows(cli, run).remove(0);
    row["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {row}")).to_owned()
}

#[test]
fn withheld_broken_and_empty_replies_of_a_model_are_no_answers() {
    let choice = |content: Value, finish: &str| json!({ "choices": [{ "message": { "role": "assistant", "content": content }, "finish_reason": finish }] });
    let mut failed = choice("hello".into(), "stop");
    failed["error"] = json!({ "message": "upstream gave up", "code": 400 });
    let mut refused = choice(Value::Null, "stop");
    refused["choices"][0]["message"]["refusal"] = "I would rather not.".into();

    for (body, why) in [
        (choice("hello".into(), "content_filter"), "content filter"),
        (choice("hello".into(), "length"), "max_output_tokens"),
        (choice("hello".into(), "error"), "broke the answer off (error)"),
        (choice(Value::Null, "stop"), "empty answer"),
        (choice("".into(), "stop"), "empty answer"),
        (failed, "upstream gave up"),
        (refused, "declined to answer: I would rather not."),
    ] {
        let (cli, server) = with_server(move |_: &MockRequest| MockReply::status(200, body.to_string()));
        cli.file("s.yaml", SILENT);
        cli.run(&["eval", "s.yaml", "--target", "openai:m", "--run-dir", "run"]).expect_code(3);
        let error = error_of(&cli, "run");
        assert!(error.contains(why), "{why}: {error}");

        cli.file(
            ".assize/targets.yaml",
            format!(
                "targets:\n- {{name: x, provider: openai, model: m, base_url: '{}', api_key: '${{{{ OPENAI_API_KEY }}}}', fallback_targets: [f]}}\n\
                 - {{name: f, provider: mock, response: hello}}\n",
                server.base_url()
            ),
        );
        cli.run(&["eval", "s.yaml", "--target", "x", "--run-dir", "behind"]).expect_code(0);
        assert_eq!(rows(&cli, "behind")[0]["answered_by"], "f", "{why}");
    }
}

#[test]
fn commands_that_print_nothing_or_an_error_give_no_answer() {
    let cli = cli();
    cli.file("s.yaml", SILENT);
    for (printed, why) in [
        ("", "empty answer"),
        ("\n", "empty answer"),
        (r#"{"text": "bye", "text": "hello"}"#, "occurs twice"),
        (r#"{"text": "hello", "output": "bye"}"#, "another text"),
        (r#"{"text": "hello", "error": "boom"}"#, "reports an error: boom"),
    ] {
        cli.file("printed.txt", printed);
        cli.file(".assize/targets.yaml", "targets:\n- {name: c, provider: cli, command: cat printed.txt}\n");
        let run = cli.run(&["eval", "s.yaml"]).expect_code(3);
        assert!(format!("{}{}", run.stdout, run.stderr).contains(why), "{why}: {run:?}");
    }
}

#[test]
fn lines_of_a_recording_that_say_two_things_are_refused() {
    let cli = cli();
    cli.file("s.yaml", SILENT);
    cli.file(".assize/targets.yaml", "targets:\n- {name: r, provider: replay, path: ../answers.jsonl}\n");
    for (line, code, why) in [
        (r#"{"case_id": "a", "output": "bye", "output": "hello"}"#, 2, "occurs twice"),
        (r#"{"case_id": "a", "id": "b", "output": "hello"}"#, 2, "either case"),
        (r#"{"case_id": "a", "output": "hello", "answer": "bye"}"#, 2, "two answers"),
        (
            r#"{"case_id": "a", "answer": "hello", "error": {"stage": "target", "message": "boom"}}"#,
            3,
            "boom",
        ),
        (r#"{"case_id": "a", "answer": ""}"#, 3, "empty answer"),
    ] {
        cli.file("answers.jsonl", format!("{line}\n"));
        let run = cli.run(&["eval", "s.yaml"]).expect_code(code);
        assert!(format!("{}{}", run.stdout, run.stderr).contains(why), "{why}: {run:?}");
    }
}

#[test]
fn a_fallback_that_judges_itself_is_noticed_under_every_name_of_its_model() {
    let (cli, server) = with_server(honest);
    let url = server.base_url();
    cli.file("s.yaml", JUDGED);
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- {{name: x, provider: mock, fail: 'no', fallback_targets: [f]}}\n\
             - {{name: f, provider: openai, model: m, base_url: '{url}', api_key: k}}\n\
             - {{name: r, provider: openai, model: m, base_url: '{url}', api_key: k, api_format: responses}}\n"
        ),
    );
    for target in ["x", "r"] {
        let args = ["eval", "s.yaml", "--target", target, "--judge", "openai:m", "--deny", "self-judging"];
        let run = cli.run(&args).expect_code(2);
        assert!(run.stderr.contains("judges its own answers"), "{target}: {}", run.stderr);
        cli.run(&[
            "eval", "--dry-run", "s.yaml", "--target", target, "--judge", "openai:n", "--deny",
            "self-judging",
        ])
        .expect_code(0);
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn the_judge_of_the_target_that_answered_judges() {
    let (cli, server) = with_server(honest);
    let url = server.base_url();
    cli.file(
        ".assize/targets.yaml",
        format!(
            "targets:\n- {{name: x, provider: mock, fail: 'no', fallback_targets: [f]}}\n\
             - {{name: f, provider: mock, response: apples, grader_target: y}}\n\
             - {{name: own, provider: mock, fail: 'no', grader_target: y, fallback_targets: [plain]}}\n\
             - {{name: plain, provider: mock, response: apples}}\n\
             - {{name: y, provider: openai, model: j, base_url: '{url}', api_key: k}}\n"
        ),
    );
    let renamed = JUDGED.replace("tests:", "execution: {targets: [{name: variant, use_target: f}]}\ntests:");
    cli.file("s.yaml", JUDGED).file("renamed.yaml", renamed);
    for (args, what) in [
        (&["s.yaml", "--target", "x"][..], "a fallback with a judge"),
        (&["s.yaml", "--target", "own"], "a fallback without one"),
        (&["renamed.yaml"], "a target under another name"),
    ] {
        let before = server.count();
        let folder = what.replace(' ', "-");
        cli.run(&[&["eval", "--no-cache", "--run-dir", &folder], args].concat()).expect_code(0);
        assert_eq!(server.count(), before + 1, "{what}");
        let judged = crate::e2e::bench::judgements(&cli, &folder).remove(0);
        assert_eq!(judged["judge"]["name"], "y", "{what}: {judged}");
        assert!(info(&cli, &folder)["judges"].to_string().contains("the target's grader_target"), "{what}");
    }
}

#[test]
fn judges_and_programs_that_contradict_themselves_decide_nothing() {
    let met = r#"{"evidence": [], "reason": "r", "outcome": "met", "verdict": "fail"}"#;
    let (cli, server) = with_server(move |_: &MockRequest| MockReply::text(met));
    cli.file("s.yaml", JUDGED.replace("input: q", "input: q\n  output: apples"));
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
    assert!(server.count() > 1, "the judge is asked again");

    for printed in [r#"{"score": 1, "error": "boom"}"#, r#"{"score": 1, "verdict": "fail"}"#] {
        cli.file("printed.txt", printed);
        cli.file(
            "s.yaml",
            "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: hello\n  assertions:\n  \
             - {type: code-grader, command: [cat, printed.txt]}\n",
        );
        cli.run(&["eval", "s.yaml"]).expect_code(3);
    }
}
