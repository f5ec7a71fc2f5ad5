//! Material longer than a judge can read: never cut silently.

use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::{Value, json};

use crate::runs::support::{eval, fixture, model, printed, rows};

/// An answer of 200 numbered paragraphs, with a unique one in the middle.
fn answer() -> String {
    let paragraph = |n| match n {
        100 => "THE NEEDLE IS HERE.\n\n".to_owned(),
        n => format!("Paragraph {n} says little.\n\n"),
    };
    (0..200).map(paragraph).collect()
}

fn suite(more: &str) -> String {
    let output = Value::from(answer());
    format!(
        "name: long\ntests:\n  - id: one\n    criteria: be right\n    input: question\n    output: {output}\n    \
         assertions:\n      - type: rubrics\n{more}        criteria:\n          - id: needle\n            outcome: Shows \
         the needle\n"
    )
}

/// Met if the material shows the needle; quotes it.
fn finder(incoming: &MockRequest) -> MockReply {
    let found = incoming.last_user_text.contains("THE NEEDLE IS HERE");
    let evidence = if found { vec!["THE NEEDLE IS HERE."] } else { Vec::new() };
    let outcome = if found { "met" } else { "unmet" };
    MockReply::Json(json!({ "evidence": evidence, "reason": "by rule", "outcome": outcome }))
}

fn body(server: &MockServer, index: usize) -> String {
    let body = server.requests()[index].json();
    let parts = body["messages"][1]["content"].clone();
    match parts {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[test]
fn what_is_too_long_is_not_sent_and_the_reason_says_what_to_do() {
    let server = MockServer::start(finder);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(""));
    let run = printed(&eval(&cli, &["--context-tokens", "3400", "--run-dir", "run"]).expect_code(3));
    assert_eq!((server.count(), &run["criteria_ungraded"]), (0, &1.into()));
    assert_eq!(run["cost_usd"], 0.0);
    let row = &rows(&cli, "run/judgements.jsonl")[0];
    assert_eq!(row["ungraded"]["kind"], "context_length");
    let reason = row["reason"].as_str().unwrap();
    for wanted in ["not sent: about", "context window of 3,400", "truncate: head", "--context-tokens"] {
        assert!(reason.contains(wanted), "{reason}");
    }
    let words = ["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--context-tokens", "3400"];
    let plan = cli.run(&words).expect_code(0).stdout;
    assert!(plan.contains("1 can't be judged, beyond its context window"), "{plan}");
    eval(&cli, &[]).expect_code(0);
    assert_eq!(server.count(), 1);
}

#[test]
fn what_is_left_out_is_marked_in_the_request_and_in_every_record() {
    for (mode, sees, lacks) in [
        ("head", "Paragraph 199 ", "Paragraph 0 "),
        ("tail", "Paragraph 0 ", "Paragraph 199 "),
        ("middle", "Paragraph 199 ", "THE NEEDLE"),
    ] {
        let server = MockServer::start(finder);
        let cli = fixture(&server);
        cli.file("suite.yaml", suite(&format!("        truncate: {mode}\n")));
        let run = printed(&eval(&cli, &["--context-tokens", "3400", "--run-dir", "run"]));
        assert_eq!((server.count(), &run["criteria_truncated"]), (1, &1.into()), "{mode} {run}");
        let body = body(&server, 0);
        assert!(body.contains(sees) && !body.contains(lacks), "{mode}\n{body}");
        assert!(body.contains("Shows the needle") && body.contains("question"), "{body}");
        // The line at the cut carries the same fence as the blocks.
        let fence = body.split("[[BEGIN answer ").nth(1).unwrap().split("]]").next().unwrap();
        let mark = body.split(&format!("[[LEFT OUT {fence}: ")).nth(1).unwrap();
        let left_out: u64 = mark.split(' ').next().unwrap().parse().unwrap();
        let row = &rows(&cli, "run/judgements.jsonl")[0];
        let truncated = &row["truncated"];
        assert_eq!((&truncated["mode"], &truncated["omitted"]), (&mode.into(), &left_out.into()));
        assert_eq!(truncated["characters"].as_u64().unwrap(), answer().chars().count() as u64);
        let result = &rows(&cli, "run/results.jsonl")[0];
        assert_eq!(result["graders"][0]["criteria"][0]["truncated"], mode);
        // People see it next to the decision.
        let mark = format!("(truncate: {mode}): ");
        let explained = cli.run(&["explain", "run", "one"]).expect_code(0).stdout;
        assert!(explained.split_whitespace().collect::<Vec<_>>().join(" ").contains(&mark), "{explained}");
        let seen = printed(&cli.run(&["explain", "run", "one", "--json"]));
        assert_eq!(seen["graders"][0]["criteria"][0]["truncated"], *truncated);
        // The same settings find the same cached reply.
        let again = printed(&eval(&cli, &["--context-tokens", "3400"]));
        assert_eq!((&again["judge_calls"], &again["judge_calls_cached"]), (&0.into(), &1.into()));
    }
}

#[test]
fn an_answer_in_parts_is_judged_whole_and_merged() {
    let server = MockServer::start(finder);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(""));
    let args = ["--context-tokens", "3400", "--truncate", "chunk", "--run-dir", "run"];
    let plan = printed(
        &cli.run(&[
            "eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--json", "--context-tokens",
            "3400", "--truncate", "chunk",
        ])
        .expect_code(0),
    );
    let run = printed(&eval(&cli, &args).expect_code(0));
    let parts = server.count();
    assert!(parts > 2, "{parts}");
    assert_eq!(plan["calls"].as_u64().unwrap(), parts as u64);
    assert_eq!((&run["criteria"], &run["criteria_truncated"]), (&1.into(), &1.into()));
    let row = &rows(&cli, "run/judgements.jsonl")[0];
    assert_eq!((&row["outcome"], &row["attempts"]), (&"met".into(), &(parts as u64).into()));
    assert_eq!(row["evidence"], json!([{ "quote": "THE NEEDLE IS HERE.", "verified": true }]));
    assert_eq!(
        (&row["truncated"]["parts"], &row["truncated"]["omitted"]),
        (&(parts as u64).into(), &0.into())
    );
    assert_eq!(row["replies"].as_array().unwrap().len(), parts);
    let shown: String = (0..parts).map(|index| body(&server, index)).collect();
    for n in (0..200).filter(|n| *n != 100) {
        assert!(shown.contains(&format!("Paragraph {n} says little.")), "{n}");
    }
    assert!(shown.contains(&format!("part 1 of {parts}")));
}

#[test]
fn a_servers_own_limit_is_that_kind_and_is_not_asked_again() {
    let server = MockServer::start(|_: &MockRequest| {
        MockReply::status(
            400,
            r#"{"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}}"#,
        )
    });
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(""));
    eval(&cli, &["--run-dir", "run"]).expect_code(3);
    let row = &rows(&cli, "run/judgements.jsonl")[0];
    assert_eq!((server.count(), &row["ungraded"]["kind"]), (1, &"context_length".into()));
}

#[test]
fn files_say_how_much_a_model_reads_and_what_is_done_then() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite("").replace("tests:", "execution: {truncate: tail}\ntests:"))
        .file(".assize/prices.yaml", "models:\n  openai:judge-1: {context_tokens: 3400}\n");
    let run = printed(&eval(&cli, &[]));
    assert_eq!((server.count(), &run["criteria_truncated"]), (1, &1.into()), "{run}");
    // The command line overrides the suite, and so does a grader.
    eval(&cli, &["--truncate", "never"]).expect_code(3);
    let never = suite("        truncate: never\n").replace("tests:", "execution: {truncate: tail}\ntests:");
    cli.file("suite.yaml", never);
    eval(&cli, &[]).expect_code(3);
    cli.file("suite.yaml", suite("        truncate: end\n"));
    let output = eval(&cli, &[]).expect_code(2);
    assert!(output.stderr.contains("`truncate` has no value `end`"), "{}", output.stderr);
    assert_eq!(server.count(), 1);
}

#[test]
fn that_a_limit_is_not_known_is_said_to_whoever_wants_it_kept() {
    let server = MockServer::start(finder);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite("        truncate: tail\n"));
    let warnings = |more: &[&str]| printed(&eval(&cli, more).expect_code(0))["warnings"].clone();
    let known = "the context window of `openai:judge-1` is unknown, so `truncate: tail` has no effect; \
                 set it with `--context-tokens N`";
    let said = warnings(&[]);
    assert!(said[0].as_str().is_some_and(|said| said.contains(known)), "{said}");
    for more in [&["--context-tokens", "100000"][..], &["--truncate", "never"]] {
        assert_eq!(warnings(more), json!([]), "{more:?}");
    }
}

#[test]
fn a_batch_is_divided_before_anything_is_left_out() {
    let server = MockServer::start(|incoming: &MockRequest| {
        let ids = incoming
            .last_user_text
            .lines()
            .filter_map(|line| line.strip_suffix(": does the answer meet this?"));
        let entry = |id| json!({ "id": id, "evidence": [], "reason": "r", "outcome": "met" });
        MockReply::Json(json!({ "results": ids.map(entry).collect::<Vec<_>>() }))
    });
    let cli = fixture(&server);
    let wordy = "words that make this criterion a long one to read, ".repeat(12);
    let line = |n| format!("          - Number {n} has {wordy}\n");
    let criteria: String = (0..16).map(line).collect();
    let text = "name: wide\ntests:\n  - id: one\n    criteria: be right\n    input: question\n    output: short\n    \
                assertions:\n      - type: rubrics\n        criteria:\n";
    cli.file("suite.yaml", format!("{text}{criteria}"));
    let limits = ["--judging", "batched", "--context-tokens", "6000", "--no-cache"];
    for more in [&[][..], &["--truncate", "tail"], &["--truncate", "chunk"]] {
        let before = server.count();
        let run = printed(&eval(&cli, &[&limits[..], more].concat()).expect_code(0));
        assert_eq!((&run["criteria"], &run["criteria_truncated"]), (&16.into(), &0.into()), "{more:?}");
        let calls = server.count() - before;
        assert!((2..8).contains(&calls), "{calls}");
        let plan = ["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--json"];
        let plan = printed(&cli.run(&[&plan[..], &limits[..4], more].concat()).expect_code(0));
        assert_eq!(plan["calls"], calls);
    }
}

#[test]
fn graders_that_are_no_rubrics_are_not_told_to_truncate() {
    let server = MockServer::start(finder);
    let cli = fixture(&server);
    let text = suite("");
    let head = text.split("      - type: rubrics").next().unwrap();
    let others = "      - {type: llm-grader, prompt: \"Is {{output}} good?\"}\n      - {type: pairwise, baseline: another}\n";
    cli.file("suite.yaml", format!("{head}{others}"));
    eval(&cli, &["--context-tokens", "2000", "--truncate", "head", "--run-dir", "run"]).expect_code(3);
    for row in rows(&cli, "run/judgements.jsonl") {
        let error = row["grader_result"]["error"].as_str().unwrap();
        assert!(
            error.contains("context window of 2,000") && error.contains("only the material of rubrics"),
            "{error}"
        );
        assert!(!error.contains("leaves a part out"), "{error}");
    }
    assert_eq!(server.count(), 0);
}
