//! `score`: new weights and thresholds over stored decisions.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use crate::e2e::bench::{cli, info, judgements, object, outcomes, rows, with_server};
use crate::e2e::judge::honest;

/// A stored run: `a` met with weight 1, `z` unmet with weight 1.
fn stored() -> (CliTest, MockServer) {
    let (cli, server) = with_server(honest);
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: c\n  criteria: x\n  input: q\n  output: apples\n  assertions:\n  - name: fruit\n    type: rubrics\n    \
         criteria:\n    - {id: a, outcome: Names `apples`}\n    - {id: z, outcome: Names `zebras`}\n",
    );
    cli.run(&["eval", "s.yaml", "--judge", "openai:m", "--run-dir", "run"]).expect_code(1);
    assert_eq!(server.count(), 2);
    (cli, server)
}

#[test]
fn changed_weights_and_gates_are_scored_without_a_request() {
    let (cli, server) = stored();
    cli.file(
        "rubric.yaml",
        "- {id: a, outcome: Names `apples`, weight: 9}\n- {id: z, outcome: Names `zebras`, weight: 1}\n",
    );
    let value = object(
        &cli.run(&["score", "run", "--rubric", "rubric.yaml", "--json", "--run-dir", "new"]).expect_code(0),
    );
    assert_eq!((value["verdicts_changed"].as_u64(), value["judge_calls"].as_u64()), (Some(1), Some(0)));
    assert_eq!(value["mean_score"]["mean"], 0.9);
    let row = &rows(&cli, "new")[0];
    assert_eq!((row["score"].as_f64(), row["verdict"].as_str()), (Some(0.9), Some("pass")));
    assert_eq!(row["tokens"], rows(&cli, "run")[0]["tokens"], "what was spent stays");
    assert_eq!(info(&cli, "new")["command"], "score");
    cli.run(&["explain", "new", "c"]).expect_code(0);

    cli.file(
        "gate.yaml",
        "- {id: a, outcome: Names `apples`, weight: 9}\n- {id: z, outcome: Names `zebras`, required: true}\n",
    );
    let output = cli.run(&["score", "run", "--rubric", "gate.yaml"]).expect_code(1);
    assert!(output.stdout.contains('z'), "{}", output.stdout);
    assert_eq!(server.count(), 2, "no judge was asked");
    assert_eq!(rows(&cli, "run")[0]["score"], 0.5, "the run itself is left alone");
}

#[test]
fn changed_words_are_ungraded_until_judged_again() {
    let (cli, server) = stored();
    cli.file("rubric.yaml", "- {id: a, outcome: Names red `apples`}\n- {id: z, outcome: Names `zebras`}\n");
    let output = cli
        .run(&["score", "run", "--rubric", "rubric.yaml", "--threshold", "0.3", "--run-dir", "new"])
        .expect_code(3);
    assert!(output.stderr.contains("`a`"), "{}", output.stderr);
    let row = &rows(&cli, "new")[0];
    assert_eq!(outcomes(row), ["a=ungraded", "z=unmet"]);
    assert_eq!(judgements(&cli, "new")[0]["ungraded"]["kind"], "not_judged");
    assert_eq!(server.count(), 2);
}

#[test]
fn criteria_that_came_or_went_are_named() {
    let (cli, _server) = stored();
    cli.file("rubric.yaml", "- {id: a, outcome: Names `apples`}\n- {id: new, outcome: Names `lions`}\n");
    let output = cli.run(&["score", "run", "--rubric", "rubric.yaml", "--json"]).expect_code(3);
    assert!(output.stderr.contains("`new`") && output.stderr.contains("`z`"), "{}", output.stderr);
    cli.file("rubric.yaml", "- {id: nothing, outcome: Names `lions`}\n");
    let output = cli.run(&["score", "run", "--rubric", "rubric.yaml", "--json"]).expect_code(1);
    assert!(output.stderr.contains("changes nothing"), "{}", output.stderr);
}

#[test]
fn lines_can_be_moved_and_the_output_folder_is_protected() {
    let (cli, _server) = stored();
    cli.run(&["score", "run", "--threshold", "0.5", "--run-dir", "low"]).expect_code(0);
    assert_eq!(rows(&cli, "low")[0]["verdict"], "pass");
    let value = object(&cli.run(&["score", "run", "--borderline", "0.5", "--json"]).expect_code(1));
    assert_eq!(value["counts"]["borderline"], 1);
    for out in ["run", "low"] {
        let output = cli.run(&["score", "run", "--threshold", "0.5", "--run-dir", out]).expect_code(2);
        assert!(output.stderr.contains(out), "{}", output.stderr);
    }
    cli.run(&["score", "run", "--threshold", "0.3", "--borderline", "0.9"]).expect_code(2);
    cli.run(&["score", "rum"]).expect_code(2);
    cli.file("bad.yaml", "- {id: a, outcome: x, wieght: 3}\n");
    let output = cli.run(&["score", "run", "--rubric", "bad.yaml"]).expect_code(2);
    assert!(output.stderr.contains("weight"), "{}", output.stderr);
}

#[test]
fn a_run_moved_to_another_place_can_still_be_scored() {
    let (cli, _server) = stored();
    std::fs::create_dir_all(cli.path("archive")).expect("sound");
    std::fs::rename(cli.path("run"), cli.path("archive/old")).expect("sound");
    std::fs::remove_file(cli.path("s.yaml")).expect("sound");
    cli.run(&["score", "archive/old", "--threshold", "0.5"]).expect_code(0);
}

#[test]
fn damaged_records_are_named_with_their_line_and_torn_tails_left_out() {
    let (cli, _server) = stored();
    let results = cli.read("run/results.jsonl");
    cli.file("run/results.jsonl", format!("{results}{}", &results[..results.len() / 2]));
    cli.run(&["score", "run", "--threshold", "0.5"]).expect_code(0);
    cli.file("run/results.jsonl", format!("{{\"not\": \"a row\"}}\n{results}"));
    let output = cli.run(&["score", "run", "--threshold", "0.5"]).expect_code(2);
    assert!(output.stderr.contains("results.jsonl"), "{}", output.stderr);
    cli.file("run/run.json", "{\"format_version\": 999}");
    let output = cli.run(&["score", "run", "--threshold", "0.5"]).expect_code(2);
    assert!(output.stderr.contains("999"), "{}", output.stderr);
}

#[test]
fn the_line_of_a_rubric_file_counts_unless_the_command_names_one() {
    let (cli, _server) = stored();
    cli.file(
        "rubric.yaml",
        "threshold: 0.4\ncriteria:\n- {id: a, outcome: Names `apples`}\n- {id: z, outcome: Names `zebras`}\n",
    );
    cli.run(&["score", "run", "--rubric", "rubric.yaml"]).expect_code(0);
    cli.run(&["score", "run", "--rubric", "rubric.yaml", "--threshold", "0.6"]).expect_code(1);
}

#[test]
fn only_cases_that_changed_are_printed() {
    let cli = cli();
    let cases: Vec<String> = (0..14)
        .map(|n| {
            let answer = if n < 2 { "apples" } else { "apples and pears" };
            format!("- {{id: c{n}, criteria: x, input: q, output: {answer}, assertions: [{{type: rubrics, criteria: [{{id: a, outcome: Names `apples`, required: false, weight: 3}}, {{id: p, outcome: Names `pears`, required: false}}]}}]}}\n")
        })
        .collect();
    let cases = cases.concat();
    cli.file("s.yaml", format!("name: s\nthreshold: 0.7\ntests:\n{cases}"));
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "run", "-q"]).expect_code(0);

    let shown = cli.run(&["score", "run", "--threshold", "0.8"]).expect_code(1).stdout;
    let (printed, summary) = shown.split_once("Summary").expect("cases, then the summary");
    assert!(printed.contains("c0") && printed.contains("c1"), "{printed}");
    assert!(!printed.contains("c2") && !printed.contains("c13"), "{printed}");
    assert!(summary.contains("2 of 14 verdicts changed") && !summary.contains("Next"), "{summary}");
}

#[test]
fn a_run_that_did_not_come_to_all_of_its_cases_stays_so() {
    let cli = cli();
    let cases: Vec<String> = (0..4)
        .map(|n| {
            format!("- {{id: c{n}, criteria: x, input: q, output: apples, assertions: [Names `apples`]}}\n")
        })
        .collect();
    let cases = cases.concat();
    let failing = "- {id: f, criteria: x, input: q, output: pears, assertions: [Names `apples`]}\n";
    cli.file("s.yaml", format!("name: s\ntests:\n{failing}{cases}"));
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "run", "-q", "-j", "1", "--bail=1"])
        .expect_code(1);
    let stored = info(&cli, "run");
    let not_run = stored["summary"]["not_run"].as_u64().expect("a number");
    assert!(not_run > 0, "{stored}");

    // The only failed case passes now, and cases that were not run still have no verdict.
    let scored = cli.run(&["score", "run", "--threshold", "0", "--json", "--run-dir", "again"]);
    let value = object(&scored);
    assert_eq!(
        (value["not_run"].as_u64(), info(&cli, "again")["summary"]["not_run"].as_u64()),
        (Some(not_run), Some(not_run))
    );
    assert_ne!(scored.code, Some(0));
    assert!(cli.run(&["score", "again"]).stdout.contains(&format!("{not_run} not run")));

    // A killed run has no summary.
    cli.drop_checksums("run");
    let mut killed = info(&cli, "run");
    (killed["summary"], killed["finished_at"]) = (serde_json::Value::Null, serde_json::Value::Null);
    cli.file("run/run.json", killed.to_string());
    let output = cli.run(&["score", "run", "--threshold", "0"]);
    assert!(output.stderr.contains("did not end"), "{}", output.stderr);
    assert!(output.stdout.contains("the run did not end") && output.code != Some(0), "{}", output.stdout);
    let refused = cli.run(&["score", "run", "--run-dir", "other"]).expect_code(2);
    assert!(refused.stderr.contains("`--resume`"), "{}", refused.stderr);
    assert!(!cli.path("other").exists());
}

#[test]
fn a_decision_that_the_new_rubric_does_not_allow_is_none() {
    let (cli, _server) = with_server(|incoming: &MockRequest| {
        let is_about_deadlines = incoming.body.to_string().contains("deadline");
        let outcome = if is_about_deadlines { "not_applicable" } else { "met" };
        MockReply::Json(json!({ "evidence": [], "reason": "so it is", "outcome": outcome }))
    });
    cli.file("r.yaml", "- {id: a, outcome: Is kind}\n- {id: n, outcome: Names the deadline, allow_not_applicable: true, required: false}\n");
    cli.file("a.jsonl", "{\"id\": \"c\", \"question\": \"q\", \"answer\": \"apples\"}\n");
    cli.run(&["grade", "r.yaml", "--answers", "a.jsonl", "--judge", "openai:m", "--run-dir", "run"])
        .expect_code(0);

    cli.file(
        "strict.yaml",
        "- {id: a, outcome: Is kind}\n- {id: n, outcome: Names the deadline, required: true}\n",
    );
    let scored = cli.run(&["score", "run", "--rubric", "strict.yaml", "--run-dir", "new"]).expect_code(3);
    assert!(scored.stderr.contains("no stored decision for `n`"), "{}", scored.stderr);
    let criterion = &rows(&cli, "new")[0]["graders"][0]["criteria"][1];
    assert_eq!(criterion["outcome"], "ungraded", "{criterion}");
}
