//! Scores of whole answers and members of composites are cached, planned, limited and resumed like criteria.

use std::fmt::Write as _;

use assize_testkit::cli::CliTest;
use assize_testkit::mock::{MockReply, MockRequest, MockServer};
use serde_json::json;

use crate::runs::support::{decisions, eval, fixture, judge, printed, rows};

/// Judge calls of one case: two criteria, two scores of the answer, one of members.
const CALLS: usize = 5;

/// Decides criteria by their words; gives other graders a score of 0.8.
fn model(incoming: &MockRequest) -> MockReply {
    if incoming.body["response_format"]["json_schema"]["name"] == "score" {
        MockReply::Json(json!({ "evidence": [], "reason": "mostly", "score": 0.8 }))
    } else {
        judge(incoming)
    }
}

/// A suite with every way to ask a judge, and checks without a judge.
fn suite(cases: usize) -> String {
    let mut text = String::from("name: whole\ntests:\n");
    for case in 0..cases {
        let _ = write!(
            text,
            "  - id: case-{case}
    criteria: be right
    input: question {case}
    output: the answer is {case}
    metadata: {{level: easy}}
    assertions:
      - {{type: contains, value: answer}}
      - {{type: llm-grader, name: alone}}
      - type: composite
        name: set
        aggregator: {{type: llm-grader}}
        assertions:
          - type: rubrics
            name: facts
            criteria:
              - {{id: one, outcome: yes one}}
              - {{id: two, outcome: yes two}}
          - {{type: llm-grader, name: inner, prompt: 'How kind is {{{{ output }}}}?'}}
          - {{type: contains, name: word, value: the}}
"
        );
    }
    text
}

fn written(cli: &CliTest, cases: usize) {
    cli.file("suite.yaml", suite(cases));
}

#[test]
fn whole_scores_and_members_are_planned_bought_once_and_counted() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    written(&cli, 3);
    let words = ["eval", "--dry-run", "suite.yaml", "--judge", "openai:judge-1", "--json"];
    let plan = printed(&cli.run(&words).expect_code(0));
    assert_eq!((&plan["calls"], server.count()), (&(3 * CALLS).into(), 0));
    let judge = &plan["judges"][0];
    assert_eq!((&judge["criteria"], &judge["scores"]), (&6.into(), &9.into()));
    assert_eq!((&judge["calls_per_criterion"], &judge["calls_batched"]), (&15.into(), &12.into()));

    let first = printed(&eval(&cli, &["--run-dir", "a"]).expect_code(0));
    assert_eq!(server.count(), 3 * CALLS);
    assert_eq!((&first["judge_calls"], &first["judge_calls_cached"]), (&15.into(), &0.into()));
    assert_eq!((&first["criteria"], &first["criteria_ungraded"]), (&6.into(), &0.into()));
    let input = first["tokens"]["input"].as_u64().unwrap();
    let estimated = &plan["tokens_estimated"]["input"];
    // A plan does not know the results of members.
    assert!(input <= estimated["high"].as_u64().unwrap() * 2, "{input} {estimated}");
    let of_rows: u64 =
        rows(&cli, "a/judgements.jsonl").iter().filter_map(|row| row["tokens"]["input"].as_u64()).sum();
    assert_eq!(input, of_rows, "tokens of members are counted once");

    let second = printed(&eval(&cli, &["--run-dir", "b"]).expect_code(0));
    assert_eq!(server.count(), 3 * CALLS);
    assert_eq!((&second["judge_calls"], &second["judge_calls_cached"]), (&0.into(), &15.into()));
    assert_eq!(second["tokens"], json!({"input": 0, "cached": 0, "output": 0}));
    assert_eq!(second["cost_usd"], 0.0);
    assert_eq!(decisions(&cli, "a"), decisions(&cli, "b"));
}

#[test]
fn a_budget_stops_between_members_and_the_run_goes_on() {
    let server = MockServer::start(model);
    let calm = fixture(&server);
    written(&calm, 4);
    eval(&calm, &["--run-dir", "run"]).expect_code(0);
    let before = server.count();
    let cli = fixture(&server);
    written(&cli, 4);
    let args = ["--run-dir", "run", "--resume", "-j", "2", "--budget-calls", "7"];
    for round in 1..=3 {
        let output = eval(&cli, &args).expect_code(if round < 3 { 4 } else { 0 });
        assert_eq!(printed(&output)["criteria_ungraded"], 0);
        assert!(rows(&cli, "run/judgements.jsonl").iter().all(|row| row["outcome"] != "error"));
    }
    assert_eq!(server.count() - before, 4 * CALLS, "nothing was bought twice");
    assert_eq!(decisions(&cli, "run"), decisions(&calm, "run"));
}

#[test]
fn a_case_holds_while_its_graders_and_members_read_the_same_wherever_they_stand() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    written(&cli, 2);
    let again = |cases: usize, why: &str| {
        let before = server.count();
        eval(&cli, &["--run-dir", "run", "--resume", "--no-cache"]).expect_code(0);
        assert_eq!(server.count() - before, cases * CALLS, "{why}");
        assert_eq!(decisions(&cli, "run").len(), 2);
    };
    again(2, "all is new");
    again(0, "nothing changed");
    cli.file("suite.yaml", format!("# a line more\n\n{}", suite(2)));
    again(0, "places do not count");
    cli.file("suite.yaml", suite(2).replacen("yes two", "yes two edited", 1));
    again(1, "a criterion of a member");
    cli.file("suite.yaml", suite(2).replacen("How kind", "How polite", 1));
    again(1, "a prompt of a member, and the criterion is back");
    cli.file("suite.yaml", suite(2).replace("How kind", "How polite").replace("level: easy", "level: hard"));
    again(2, "what prompts and programs may read");
    let judgements = cli.read("run/judgements.jsonl");
    let kept: Vec<&str> = judgements.lines().collect();
    cli.file("run/judgements.jsonl", format!("{}\n", kept[..kept.len() - 1].join("\n")));
    again(1, "a row of a member is lost");
}

#[test]
#[cfg(unix)]
fn another_command_behind_a_target_is_noticed() {
    let server = MockServer::start(model);
    let cli = fixture(&server);
    cli.file("suite.yaml", suite(1).replace("    output: the answer is 0\n", ""));
    for (word, calls) in [("one", CALLS), ("one", 0), ("two", CALLS)] {
        cli.file(
            ".assize/targets.yaml",
            format!("targets:\n  - {{name: script, provider: cli, command: 'echo the answer {word}'}}\n"),
        );
        let before = server.count();
        eval(&cli, &["--target", "script", "--run-dir", "run", "--resume", "--no-cache"]).expect_code(0);
        assert_eq!(server.count() - before, calls, "{word}");
        assert_eq!(
            rows(&cli, "run/results.jsonl")[0]["answer"].as_str().unwrap().trim_end(),
            format!("the answer {word}")
        );
    }
}
