//! Decisions from log-probabilities, from the request to the output of `explain`, in every format that has
//! them.

use std::fmt::Write as _;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer, MockToken};
use serde_json::{Value, json};

use crate::e2e::bench::{FORMATS, Format, KEY, cli, info, judgements, outcomes, rows, with_server};

/// The beginning of every reply.
const HEAD: &str = "{\"evidence\":[],\"reason\":\"so\",";

/// A suite of one case. Criteria with a number in their name are scored.
fn suite(criteria: &[&str]) -> String {
    let mut text =
        "name: s\ntests:\n- id: one\n  criteria: x\n  input: q\n  output: an answer\n  assertions:\n  \
                    - type: rubrics\n    panel: {scoring: logprobs}\n    criteria:\n"
            .to_owned();
    for (at, words) in criteria.iter().enumerate() {
        let _ = write!(text, "    - id: c{at}\n      outcome: {words}\n");
        if words.chars().any(|c| c.is_ascii_digit()) {
            text.push_str("      score_ranges: {0: none, 5: some, 8: all}\n");
        }
    }
    text
}

fn score(candidates: &[(&str, f64)]) -> MockReply {
    MockReply::Tokens(vec![
        MockToken::certain(format!("{HEAD}\"score\":")),
        MockToken::chosen(candidates),
        MockToken::certain("}"),
    ])
}

fn word(candidates: &[(&str, f64)]) -> MockReply {
    MockReply::Tokens(vec![
        MockToken::certain(format!("{HEAD}\"outcome\":\"")),
        MockToken::chosen(candidates),
        MockToken::certain("\"}"),
    ])
}

/// The binary with the server in the format's variables.
fn reached(format: Format, server: &MockServer) -> CliTest {
    let (_, key, address) = format;
    let mut cli = cli();
    cli.env(key, KEY).env(address, server.base_url());
    cli
}

/// The formats that have log-probabilities.
fn telling() -> impl Iterator<Item = Format> {
    FORMATS.into_iter().filter(|(model, ..)| !model.starts_with("anthropic") && !model.starts_with("bedrock"))
}

#[test]
fn every_format_that_has_them_decides_by_them() {
    for format in telling() {
        let model = format.0;
        let server = MockServer::start(|incoming: &MockRequest| {
            let asked = &incoming.last_user_text;
            if asked.contains("Spread") {
                score(&[("7", 0.5), ("8", 0.25), ("9", 0.25)])
            } else if asked.contains("Torn") {
                word(&[("unmet", 0.4), ("met", 0.6)])
            } else {
                word(&[("met", 0.3), ("probably", 0.7)])
            }
        });
        let cli = reached(format, &server);
        cli.file("s.yaml", suite(&["Spread 1", "Torn", "Elsewhere"]));
        cli.run(&["eval", "s.yaml", "--judge", model, "--run-dir", "run", "--quiet"]);
        let row = rows(&cli, "run").remove(0);
        let value = row["graders"][0]["criteria"][0]["value"].as_f64().expect("a value");
        assert!((value - 0.775).abs() < 1e-9, "{model}: {row}");
        assert_eq!(
            outcomes(&row)[1..],
            ["c1=met", "c2=ungraded"],
            "{model}: the likelier one, not the written one"
        );
        let stored = judgements(&cli, "run");
        assert_eq!(stored[0]["probability"]["written"].as_u64(), Some(7), "{model}");
        assert_eq!(stored[0]["raw_score"], Value::Null, "{model}: 7.75 is no judge's number");
        // Also for criteria that were not decided.
        for (at, mass) in [(0, 1.0), (1, 1.0), (2, 0.3)] {
            let found = stored[at]["probability"]["mass"].as_f64().expect("a mass");
            assert!((found - mass).abs() < 1e-9, "{model}: {found}");
        }
        assert_eq!(stored[2]["ungraded"]["kind"], "probability", "{model}");
        assert!(stored[2]["reason"].as_str().is_some_and(|words| words.contains("only 30%")), "{model}");
        assert_eq!(server.count(), 3, "asking again would bring the same probabilities: {model}");
        let text = cli.run(&["explain", "run", "one"]).stdout;
        assert!(text.contains("expected 7.75 of 10, written 7, captured mass 100.0%"), "{model}: {text}");
        assert!(text.contains("probability of met 0.6, captured mass 100.0%"), "{model}: {text}");
        assert!(text.contains("probability of met 1, captured mass 30.0%"), "{model}: {text}");
        // Reading the same reply again needs no call.
        cli.run(&["eval", "s.yaml", "--judge", model, "--run-dir", "again", "--quiet"]);
        assert_eq!(server.count(), 4, "{model}: only what was not decided is asked again");
        assert_eq!(outcomes(&rows(&cli, "again").remove(0)), outcomes(&row), "{model}");
    }
}

#[test]
fn a_model_that_tells_none_is_found_out_by_one_call_and_the_run_says_so() {
    for format in telling() {
        for refuses in [true, false] {
            let model = format.0;
            let server = MockServer::start(move |_: &MockRequest| {
                if refuses {
                    return MockReply::status(
                        403,
                        r#"{"error":{"message":"You are not allowed to request logprobs from this model"}}"#,
                    );
                }
                MockReply::Json(json!({ "evidence": [], "reason": "so", "outcome": "met" }))
            });
            let cli = reached(format, &server);
            let criteria: Vec<String> =
                (b'a'..b'm').map(|letter| format!("Has {}", char::from(letter))).collect();
            let criteria: Vec<&str> = criteria.iter().map(String::as_str).collect();
            cli.file("s.yaml", suite(&criteria));
            let output = cli.run(&["eval", "s.yaml", "--judge", model, "--run-dir", "run"]).expect_code(3);
            assert_eq!(server.count(), 1, "{model}");
            let row = rows(&cli, "run").remove(0);
            assert!(outcomes(&row).iter().all(|outcome| outcome.ends_with("=ungraded")), "{model}: {row}");
            assert_eq!(row["score"], Value::Null);
            for judgement in judgements(&cli, "run") {
                assert_eq!(judgement["ungraded"]["kind"], "probability", "{model}: {judgement}");
                let reason = judgement["reason"].as_str().expect("a reason");
                assert!(
                    reason.contains("no log-probabilities") && reason.contains("`scoring: written`"),
                    "{model}: {reason}"
                );
            }
            assert!(output.stdout.contains("log-probabilities"), "{model}\n{}", output.stdout);
        }
    }
}

#[test]
fn one_reply_without_them_is_ungraded_alone() {
    let (cli, server) = with_server(|incoming: &MockRequest| {
        if incoming.last_user_text.contains("Plain") {
            return MockReply::Json(json!({ "evidence": [], "reason": "so", "outcome": "met" }));
        }
        word(&[("met", 1.0)])
    });
    cli.file("s.yaml", suite(&["Told", "Plain", "Told too"]));
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run", "--quiet"]).expect_code(3);
    assert_eq!(outcomes(&rows(&cli, "run").remove(0)), ["c0=met", "c1=ungraded", "c2=met"]);
    assert_eq!(server.requests()[0].json()["top_logprobs"].as_u64(), Some(20));
}

#[test]
fn a_server_with_fewer_alternatives_is_asked_for_as_many_as_it_has() {
    let (cli, server) = with_server(|incoming: &MockRequest| {
        if incoming.body["top_logprobs"].as_u64() > Some(5) {
            return MockReply::status(
                400,
                r#"{"error":{"message":"Invalid 'top_logprobs': Expected a value <= 5, but got 20 instead."}}"#,
            );
        }
        score(&[("7", 0.75), ("9", 0.25)])
    });
    cli.file("s.yaml", suite(&["Has 1", "Has 2", "Has 3"]));
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run", "--quiet", "--threshold", "0.5"])
        .expect_code(0);
    let row = rows(&cli, "run").remove(0);
    assert!((row["graders"][0]["score"].as_f64().expect("a score") - 0.75).abs() < 1e-9, "{row}");
    assert_eq!(server.count(), 4, "learned once");
}

#[test]
fn what_is_known_to_have_none_is_refused_before_anything_is_spent() {
    let (mut cli, server) = with_server(|_: &MockRequest| MockReply::text("never asked"));
    for (key, address) in [
        ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
        ("GROQ_API_KEY", "GROQ_BASE_URL"),
        ("MISTRAL_API_KEY", "MISTRAL_BASE_URL"),
    ] {
        cli.env(key, KEY).env(address, server.base_url());
    }
    cli.file("s.yaml", suite(&["Has it"]));
    for (judge, words) in [
        ("anthropic:m", "its provider gives no log-probabilities"),
        ("bedrock:m", "its provider gives no log-probabilities"),
        ("groq:m", "its provider gives no log-probabilities"),
        ("mistral:m", "its provider gives no log-probabilities"),
        ("offline", "it gives no probabilities"),
    ] {
        for command in [&["eval", "s.yaml"][..], &["eval", "--dry-run", "s.yaml"]] {
            let output = cli.run(&[command, &["--judge", judge]].concat()).expect_code(2);
            assert!(output.stderr.contains(words), "{judge} {command:?}\n{}", output.stderr);
        }
    }
    let again = cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--judging", "batched"]).expect_code(2);
    assert!(again.stderr.contains("needs one call per criterion"), "{}", again.stderr);
    assert_eq!(server.count(), 0);
}

#[test]
fn the_command_line_asks_for_them_too_and_for_written_decisions() {
    let (cli, server) = with_server(|_: &MockRequest| score(&[("7", 0.5), ("8", 0.25), ("9", 0.25)]));
    cli.file("r.yaml", "rubrics:\n- {id: a, outcome: Has 1, score_ranges: {0: none, 5: some, 8: all}}\n");
    cli.file("answers.jsonl", "{\"id\": \"one\", \"output\": \"an answer\"}\n");
    let grade = |more: &[&str]| {
        let run = [
            "grade", "r.yaml", "--answers", "answers.jsonl", "--judge", "openai:m", "--quiet", "--threshold",
            "0.5",
        ];
        cli.run(&[&run[..], more].concat()).expect_code(0);
    };
    grade(&["--scoring", "logprobs", "--run-dir", "weighted"]);
    let value = rows(&cli, "weighted")[0]["graders"][0]["criteria"][0]["value"].as_f64().expect("a value");
    assert!((value - 0.775).abs() < 1e-9, "{value}");
    grade(&["--run-dir", "written"]);
    assert_eq!(outcomes(&rows(&cli, "written")[0]), ["a=7"]);
    assert_eq!(server.requests()[1].json()["logprobs"], Value::Null);
    // It overrides the file.
    cli.file("s.yaml", suite(&["Has 1"]));
    cli.run(&[
        "eval", "s.yaml", "--judge", "openai:m", "--scoring", "written", "--run-dir", "told", "--quiet",
        "--threshold", "0.5",
    ])
    .expect_code(0);
    assert_eq!(outcomes(&rows(&cli, "told")[0]), ["c0=7"]);
    assert_eq!(info(&cli, "told")["settings"]["other"]["scoring"], "written", "{}", info(&cli, "told"));
}
