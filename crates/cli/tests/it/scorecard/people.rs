//! Several people: the number of labels that a benchmark needs, the adjudicator, and the subject of their labels.

use assize_testkit::cli::CliTest;
use assize_testkit::mock::MockServer;
use serde_json::{Value, json};

use crate::scorecard::support::{READ, folder, judge, node, printed, rows, run_into};

/// Reviews a run with these input lines; returns the output.
fn review(cli: &CliTest, who: &str, more: &[&str], lines: &str) -> String {
    let args = [&["review", "r", "--who", who], more].concat();
    cli.run_with_input(&args, lines).expect_code(0).stdout
}

/// Scores the stored run again. Returns the exit code and the printed JSON.
fn score(cli: &CliTest) -> (i32, Value) {
    let output = cli.run(&["scorecard", "score", "r", "--json"]);
    (output.code.expect("an exit code"), printed(&output))
}

fn explained(cli: &CliTest, code: &str) -> Value {
    printed(&cli.run(&["explain", "r", code, "--json"]).expect_code(0))["cases"][0].clone()
}

#[test]
fn a_named_adjudicator_decides_what_reviewers_differ_on() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    run_into(&cli, "r");
    review(&cli, "ann", &[], "pass -- right dose\n");
    assert_eq!(score(&cli).0, 0);
    cli.run_with_input(&["review", "r", "--who", "cleo", "--adjudicate"], "").expect_code(0);
    assert!(!cli.path("card/labels/review-cleo.jsonl").exists(), "reviewers agree on all items yet");
    review(&cli, "ben", &["--raters", "2"], "fail -- an allergy\n");
    assert_eq!((score(&cli).0, explained(&cli, "C4")["state"].clone()), (3, json!("reviewers_differ")));

    // Ann has labelled already, and adjudicates all the same: both labels are shown.
    let shown = review(&cli, "ann", &["--adjudicate"], "fail -- after talking to ben\n");
    for text in ["1 of 1: p C4", "Decisions of reviewers", "ann: pass", "(right dose)", "ben: fail"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let given = rows(&cli, "card/labels/review-ann.jsonl");
    assert_eq!((given.len(), &given[1]["adjudicates"]), (2, &json!(true)));
    assert!(given[0].get("adjudicates").is_none());

    let (_, found) = score(&cli);
    assert_eq!(node(&found, "C4")["score"], 0.0);
    let case = explained(&cli, "C4");
    assert_eq!(case["decided_by"], "person");
    let reason = case["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("ann (adjudicator): fail, 20"), "{reason}");
    assert!(reason.contains("(after talking to ben); ann: pass") && reason.contains("ben: fail"), "{reason}");
    assert_eq!(rows(&cli, "r/review.jsonl").len(), 0);

    // After the adjudicator's label, no further ones are asked for, because they could not change the outcome.
    assert!(!review(&cli, "cleo", &["--raters", "5"], "pass\n").contains("p C4"));

    // The adjudicator's label is not a rating but the truth.
    let told = cli.run(&["review", "r", "--labels", "card/labels", "--agreement", "--json"]).expect_code(0);
    assert_eq!(printed(&told)["sections"][0]["ratings"], 2, "{}", told.stdout);
}

#[test]
fn an_adjudication_needs_a_name_and_a_scorecard() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    cli.file(
        "card/labels/x.jsonl",
        "{\"case\":\"p\",\"criterion\":\"C4\",\"label\":\"met\",\"adjudicates\":true}\n",
    );
    let refused = cli.run(&["validate", "card"]).expect_code(2);
    assert!(
        refused.stderr.contains("an adjudication has no `reviewer`") || refused.stdout.contains("reviewer")
    );
    cli.file("s.yaml", "name: s\ntests: [{id: a, input: q, output: yes, assertions: [Is good]}]\n");
    cli.run(&["eval", "s.yaml", "--judge", "offline", "--run-dir", "e"]);
    let refused = cli.run(&["review", "e", "--who", "ann", "--adjudicate"]).expect_code(2);
    assert!(refused.stderr.contains("`--adjudicate` needs a scorecard"), "{}", refused.stderr);
}

#[test]
fn a_benchmark_says_how_many_people_have_to_decide() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    let text = cli.read("card/benchmarks/C4.yaml");
    cli.file("card/benchmarks/C4.yaml", format!("{text}\nevaluator_config: {{raters: 2}}\n"));
    run_into(&cli, "r");
    review(&cli, "ann", &[], "pass\n");

    // One of two labels is not enough: there is no decision, and the queue still shows the item.
    assert_eq!(score(&cli).0, 3);
    let case = explained(&cli, "C4");
    assert_eq!(case["state"], "waiting");
    let reason = case["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("1 of 2 reviewers have decided: ann: pass"), "{reason}");
    assert_eq!(cli.run(&["scorecard", "score", "card"]).code, Some(3));
    assert!(!review(&cli, "ann", &[], "pass\n").contains("p C4"), "each of them once");
    assert!(review(&cli, "ben", &[], "unsure\n").contains("p C4"));
    assert_eq!(score(&cli).0, 3, "who is unsure has not decided");
    assert!(review(&cli, "cleo", &[], "pass\n").contains("p C4"));
    assert_eq!(score(&cli).0, 0);
    assert!(!review(&cli, "dan", &[], "pass\n").contains("p C4"), "two have decided");
    assert!(review(&cli, "dan", &["--raters", "3"], "pass\n").contains("p C4"), "unless more are asked for");

    for (config, code) in [("raters: 0", "E0106"), ("raters: two", "E0105"), ("rater: 2", "E0103")] {
        cli.file("card/benchmarks/C4.yaml", format!("{text}\nevaluator_config: {{{config}}}\n"));
        let refused = cli.run(&["validate", "card"]).expect_code(2);
        assert!(
            format!("{}{}", refused.stdout, refused.stderr).contains(code),
            "{config}: {}",
            refused.stdout
        );
    }
    cli.file("card/benchmarks/C4.yaml", text);
    let coded = cli.read("card/benchmarks/C3.yaml").replace("deterministic:", "raters: 2, deterministic:");
    cli.file("card/benchmarks/C3.yaml", coded);
    let refused = cli.run(&["validate", "card"]).expect_code(2);
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains("`code` does not ask people"));
}

#[test]
fn a_label_of_a_benchmark_that_does_not_apply_is_told_of() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    let label = |case: &str, code: &str| {
        format!("{{\"case\":\"{case}\",\"criterion\":\"{code}\",\"label\":\"met\",\"who\":\"ann\"}}\n")
    };
    cli.file("card/labels/a.jsonl", label("p", "C4"));
    let told = |args: &[&str]| {
        let output = cli.run(args);
        format!("{}{}", output.stdout, output.stderr)
    };
    assert!(!told(&["validate", "card"]).contains("W0731"));
    cli.file("card/labels/a.jsonl", label("p", "C4") + &label("g", "C4") + &label("p", "C1"));
    let text = told(&["validate", "card"]);
    assert!(text.contains("W0731") && text.contains("2 labels have no effect"), "{text}");
    assert!(text.contains("`C4` does not apply to `g`"), "{text}");
    run_into(&cli, "r");
    let text = told(&["scorecard", "score", "r"]);
    assert!(text.contains("2 labels have no effect"), "{text}");

    cli.file("card/labels/a.jsonl", label("p", "C4") + &label("nobody", "C4"));
    let text = told(&["scorecard", "score", "r"]);
    assert!(text.contains("1 label has no effect: the scorecard has no such case"), "{text}");
}

#[test]
fn cases_of_rubrics_are_counted_once() {
    let server = MockServer::start(judge);
    let cases: Vec<(String, String)> =
        (0..10).map(|n| (format!("c{n}"), format!("fine {n}, dose"))).collect();
    let mut cases: Vec<(&str, &str, &str)> =
        cases.iter().map(|(id, text)| (id.as_str(), "judged hybrid", text.as_str())).collect();
    cases[0].1 = "judged hybrid read";
    cases[1].2 = "broken";
    cases.push(("only", "coded", "dose mg"));
    let cli = folder(&server, &cases);
    let found = run_into(&cli, "r");
    // Ten cases for two benchmarks; one of them also waits for a person, one could not be judged; one for a
    // check.
    for code in ["TOP", "C", "R"] {
        assert_eq!(
            (&node(&found, code)["cases"], &node(&found, code)["missing"]),
            (&json!(9), &json!(2)),
            "{code}"
        );
    }
    assert_eq!(node(&found, "C1")["cases"], 9);
    let table = cli.run(&["scorecard", "score", "r"]).stdout;
    assert!(table.lines().any(|line| line.contains("TOP") && line.contains("9 of 11")), "{table}");
    let explained = cli.run(&["explain", "r", "R"]).expect_code(0).stdout;
    assert!(explained.contains("2 cases without all results"), "{explained}");

    let skipped = printed(&cli.run(&["scorecard", "score", "r", "--treat-missing", "skip", "--json"]));
    assert_eq!((&node(&skipped, "TOP")["cases"], &node(&skipped, "TOP")["missing"]), (&json!(11), &json!(0)));
    let zero = printed(&cli.run(&["scorecard", "score", "r", "--treat-missing", "zero", "--json"]));
    assert_eq!(node(&zero, "TOP")["cases"], 11);

    // From a file of results: every case has at most one of its results.
    cli.file("results.jsonl", "{\"case\": \"c2\", \"benchmark\": \"C1\", \"pass\": true}\n");
    let files = cli.run(&["scorecard", "score", "card", "--results", "results.jsonl", "--json"]);
    let files = printed(&files);
    assert_eq!((&node(&files, "TOP")["cases"], &node(&files, "TOP")["missing"]), (&json!(0), &json!(11)));
    let info: Value = serde_json::from_str(&cli.read("r/run.json")).expect("JSON");
    assert_eq!(info["scorecard"]["nodes"][0]["cases"], 11);
}

#[test]
fn labels_that_were_taken_away_count_no_more() {
    let server = MockServer::start(judge);
    let cli = folder(&server, &READ);
    run_into(&cli, "r");
    review(&cli, "ann", &[], "pass -- right dose\n");
    assert_eq!(score(&cli).0, 0);

    // A run made with labels keeps the decisions that they led to, and still asks for the labels.
    run_into(&cli, "with-labels");
    std::fs::remove_dir_all(cli.path("card/labels")).expect("removed");
    for run in ["r", "with-labels"] {
        let output = cli.run(&["scorecard", "score", run, "--json"]).expect_code(3);
        let shown = printed(&output);
        assert_eq!(shown["labels"]["counted"], 0, "{run}: {}", shown["labels"]);
        let text = cli.run(&["scorecard", "score", run]).expect_code(3).stdout;
        assert!(!text.contains("counted"), "{run}: {text}");
    }
}
