//! A model judge that tells the truth: correct outcomes, evidence, calls and records.

use std::fmt::Write;

use assize_testkit::mock::{MockReply, always};

use crate::e2e::bench::{judgements, object, outcomes, rows, with_server};
use crate::e2e::judge::{JudgeRequest, honest};

const SUITE: &str = "name: s
tests:
- id: mixed
  criteria: x
  input: What grows?
  output: apples and pears
  assertions:
  - Names `apples`
  - Names `zebras`
  - name: detailed
    type: rubrics
    weight: 2
    criteria:
    - {id: fruit, outcome: 'Names `pears`', weight: 3, required: true}
    - {id: penalty, outcome: 'Names `lions`', weight: -1}
    - id: depth
      outcome: Depth is `7`
      min_score: 0.7
      score_ranges: {0: none, 5: some, 8: all}
";

#[test]
fn one_call_a_criterion_gives_the_right_outcomes() {
    let (cli, server) = with_server(honest);
    cli.file("s.yaml", SUITE);
    let value = object(
        &cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--json", "--run-dir", "run"]).expect_code(1),
    );
    let row = &rows(&cli, "run")[0];
    assert_eq!(outcomes(row), ["rubric-1=met", "rubric-2=unmet", "fruit=met", "penalty=unmet", "depth=7"],);
    assert_eq!(row["gates_failed"][0]["criterion"], "rubric-2");
    assert_eq!(row["gates_failed"].as_array().map(Vec::len), Some(1), "0.7 passes at a minimum of 0.7");
    // Strings: 1 of 2. Objects: (3 + 0.7) / 4. The weights are 2 (number of strings) and 2.
    let expected = f64::midpoint(0.5, 3.7 / 4.0);
    assert!((row["score"].as_f64().expect("a number") - expected).abs() < 1e-12, "{row}");
    assert_eq!((server.count(), value["judge_calls"].as_u64()), (5, Some(5)));
    assert!(value["tokens"]["input"].as_u64().is_some_and(|tokens| tokens > 0));
    let judge = &row["graders"][0]["criteria"][0]["judge"];
    assert_eq!((judge["name"].as_str(), judge["model"].as_str()), (Some("openai:m"), Some("m")));
    assert!(judge["prompt_hash"].is_string());
    let evidence = &row["graders"][0]["criteria"][0]["evidence"][0];
    assert_eq!((evidence["quote"].as_str(), evidence["verified"].as_bool()), (Some("apples"), Some(true)));
    for request in server.requests() {
        let body = request.json();
        assert_eq!((body["model"].as_str(), body["temperature"].as_f64()), (Some("m"), Some(0.0)));
        assert!(body["seed"].is_u64());
        assert_eq!(body["response_format"]["type"], "json_schema");
        assert_eq!(JudgeRequest::of(&request).answer, "apples and pears");
    }
    for row in judgements(&cli, "run") {
        assert_eq!((row["attempts"].as_u64(), row["replies"].as_array().map(Vec::len)), (Some(1), Some(1)));
    }
}

#[test]
fn batches_give_the_same_outcomes_in_fewer_calls() {
    for (mode, calls) in [("batched", 2), ("batched:2", 3), ("per-criterion", 5)] {
        let (cli, server) = with_server(honest);
        cli.file("s.yaml", SUITE);
        cli.run(&["eval", "s.yaml", "--judge", "openai/m", "--judging", mode, "--run-dir", "run"])
            .expect_code(1);
        assert_eq!(
            outcomes(&rows(&cli, "run")[0]),
            ["rubric-1=met", "rubric-2=unmet", "fruit=met", "penalty=unmet", "depth=7"],
            "{mode}"
        );
        assert_eq!(server.count(), calls, "{mode}");
    }
}

#[test]
fn many_cases_at_once_keep_their_outcomes_apart_and_within_the_limit() {
    let (cli, server) = with_server(honest);
    let mut suite = String::from("name: many\ntests:\n");
    for number in 0..40 {
        let _ = write!(
            suite,
            "- id: case-{number:02}\n  criteria: x\n  input: q\n  output: word{number}end\n  assertions:\n  \
             - type: rubrics\n    criteria:\n    - {{id: own, outcome: 'Has `word{number}end`'}}\n    \
             - {{id: other, outcome: 'Has `word{}end`'}}\n",
            number + 1
        );
    }
    cli.file("s.yaml", suite);
    cli.run(&[
        "eval", "s.yaml", "--judge", "openai:m", "-j", "16", "--judge-calls", "3", "--run-dir", "run",
        "--quiet",
    ])
    .expect_code(1);
    let rows = rows(&cli, "run");
    assert_eq!(rows.len(), 40);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row["case_id"].as_str(), Some(format!("case-{number:02}").as_str()));
        assert_eq!(outcomes(row), ["own=met", "other=unmet"], "{row}");
    }
    assert_eq!(server.count(), 80);
    assert!(server.peak_in_flight() <= 3, "{} calls at once", server.peak_in_flight());
}

#[test]
fn the_judging_mode_of_the_command_beats_that_of_a_grader() {
    let (cli, server) = with_server(honest);
    cli.file("s.yaml", SUITE.replace("    weight: 2\n", "    weight: 2\n    judging: per-criterion\n"));
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--judging", "batched"]).expect_code(1);
    assert_eq!(server.count(), 2, "one call for each rubric");
}

#[test]
fn thoughts_and_slips_around_one_reply_cost_no_further_call() {
    let ok = r#"{"evidence":[],"reason":"ok","outcome":"met"}"#;
    let draft = r#"{"evidence":[],"reason":"no","outcome":"unmet"}"#;
    for (reply, slipped) in [
        (format!("thoughts\n</think>\n\n{ok}"), false),
        (format!("Draft: {draft} no wait.\n</think>\n{ok}"), false),
        (format!("[THINK]{draft}[/THINK]{ok}"), false),
        (format!("◁think▷{draft}◁/think▷{ok}"), false),
        (format!("<seed:think>{draft}</seed:think>{ok}"), false),
        ("{\"evidence\":[],\"reason\":\"two\nlines\",\"outcome\":\"met\"}".to_owned(), true),
        ("{\"evidence\":[],\"reason\":\"a\ttab\",\"outcome\":\"met\"}".to_owned(), true),
        ("{\"evidence\":[], // none\n\"reason\":\"ok\",\"outcome\":\"met\"}".to_owned(), true),
        (r#"{"evidence":[],"reason":"it\'s","outcome":"met"}"#.to_owned(), true),
        (r#"{"evidence":[],"reason":"\d+","outcome":"met",}"#.to_owned(), true),
    ] {
        let (cli, server) = with_server(always(MockReply::text(reply.clone())));
        cli.file("s.yaml", "tests: [{id: a, input: q, output: o, assertions: [ok]}]\n");
        cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(0);
        assert_eq!(server.count(), 1, "{reply}");
        assert_eq!(judgements(&cli, "run")[0]["has_slips"].as_bool().unwrap_or(false), slipped, "{reply}");
        let explained = cli.run(&["explain", "run", "a"]).expect_code(0).stdout;
        let note = "the reply is not quite JSON, but has only one reading";
        assert_eq!(explained.contains(note), slipped, "{explained}");
    }
}

#[test]
fn a_reply_with_two_readings_is_asked_for_again() {
    for reply in [
        r#"{"evidence":[],"reason":"\x41","outcome":"met"}"#,
        r#"{"evidence":[],"reason":"\101","outcome":"met"}"#,
        r#"{"evidence":[],"reason":"he said "no"","outcome":"met",}"#,
        r#"{"evidence":[],"reason":"ok","outcome":"met","outcome":"met",}"#,
        r#"{"evidence":[],"reason":"ok",,"outcome":"met"}"#,
        "{\"evidence\":[],\"reason\":\"ok\",\"outcome\":\"met\" // \"outcome\": \"unmet\"\n}",
        r#"{"evidence":[],"reason":"ok","outcome":"met" /* or not */}"#,
        "{'evidence':[],'reason':'ok','outcome':'met'}",
    ] {
        let (cli, server) = with_server(always(MockReply::text(reply)));
        cli.file("s.yaml", "tests: [{id: a, input: q, output: o, assertions: [ok]}]\n");
        cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(3);
        assert!(server.count() > 1, "{reply}");
        assert_eq!(outcomes(&rows(&cli, "run")[0]), ["rubric-1=ungraded"], "{reply}");
    }
}
