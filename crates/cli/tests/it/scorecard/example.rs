//! `assize validate` and `assize scorecard list` on the scorecard of the examples.

use std::path::{Path, PathBuf};

use assize_testkit::cli::CliTest;
use serde_json::Value;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scorecard")
}

fn test() -> CliTest {
    let test = CliTest::new(env!("CARGO_BIN_EXE_assize"));
    test.copy_folder(&example(), "card");
    test
}

#[test]
fn the_example_is_sound() {
    let output = test().run(&["validate", "card"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert_eq!(output.stdout, "28 files (1 scorecard), 20 cases: no problems\n");
}

#[test]
fn the_list_shows_the_tree_and_what_it_counts() {
    let test = test();
    let output = test.run(&["scorecard", "list", "card"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(
        lines[0].starts_with("code") && lines[1].starts_with("RDI ") && lines[2].starts_with("  A "),
        "{}",
        output.stdout
    );
    assert!(
        lines.iter().any(|line| line.starts_with("      A-MED1") && line.contains("hard gate")),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("7 rubrics, 11 benchmarks (2 code, 5 llm_judge, 2 hybrid, 2 manual_sme)"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.ends_with("weights of the index: pilot\n"), "{}", output.stdout);
}

#[test]
fn the_list_is_also_for_programs() {
    let test = test();
    let output = test.run(&["scorecard", "list", "card", "--json", "--weights", "routine"]);
    let json: Value = serde_json::from_str(&output.stdout).expect("one object");
    assert_eq!(
        (&json["name"], &json["cases"], &json["weight_set"]),
        (&"RDI".into(), &20.into(), &"routine".into())
    );
    let node = |code: &str| {
        json["nodes"].as_array().expect("a list").iter().find(|node| node["code"] == code).expect("there")
    };
    assert_eq!((&node("A")["weight"], &node("A")["depth"]), (&0.5.into(), &1.into()));
    assert_eq!((&node("A-MED1")["criticality"], &node("A-MED1")["cases"]), (&"hard_gate".into(), &8.into()));
    assert_eq!(node("S-DOC")["aggregation_method"], "MINIMUM");
}

#[test]
fn failed_gates_block_the_index_and_are_named_there() {
    let test = test();
    let output = test.run(&["scorecard", "score", "card", "--results", "card/results/judged.jsonl"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let line =
        |code: &str| output.stdout.lines().find(|line| line.trim_start().starts_with(code)).expect("there");
    for code in ["RDI ", "A "] {
        assert!(line(code).contains("blocked by A-MED and 3 more"), "{}", output.stdout);
    }
    assert!(
        line("A-MED ").contains("blocked by A-MED1") && line("A-FMT ").contains("pass"),
        "{}",
        output.stdout
    );
    assert!(
        line("S-DOC1").contains("incomplete") && line("S-DOC1").contains("0.375 to 0.875"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains(
            "is blocked by A-MED, A-MED1, A-NEG1, A-REF1; ignoring gates, it would score 0.726 to 0.876\n"
        ),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("A-MED3 up to 31.2% (8 cases)"), "{}", output.stdout);
}

#[test]
fn missing_results_count_as_asked_for() {
    let test = test();
    let score = |how: &str| {
        let args = ["scorecard", "score", "card", "--treat-missing", how, "--json"];
        let output = test.run(&args);
        let json: Value = serde_json::from_str(&output.stdout).expect("one object");
        let nodes = json["nodes"].as_array().expect("a list").clone();
        let node = |code: &str| nodes.iter().find(|node| node["code"] == code).expect("there").clone();
        (output.code, node("RDI"), node("S-DOC1"))
    };
    // A clinician found that gate A-MED1 failed, and there are no other labels about it.
    let (code, top, read) = score("incomplete");
    assert_eq!((code, &top["verdict"], &top["score"]), (Some(1), &"blocked".into(), &Value::Null));
    assert_eq!((&read["cases"], &read["missing"]), (&4.into(), &4.into()));
    let (code, top, read) = score("zero");
    assert_eq!((code, &top["verdict"], &read["score"]), (Some(1), &"blocked".into(), &0.375.into()));
    let (code, top, read) = score("skip");
    assert_eq!((code, &top["verdict"], &read["score"]), (Some(1), &"blocked".into(), &0.75.into()));
    assert_eq!(top["weight_covered"], 1.0);
}

#[test]
fn what_is_broken_is_refused() {
    let test = test();
    test.file(
        "card/rubrics/A-NEG.yaml",
        "code: A-NEG\nlabel: x\nweight: 2\naggregation_method: mean\nbenchmarks: [A-NEG1, A-NEG2]\n",
    );
    let output = test.run(&["scorecard", "list", "card"]);
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("E0709") && output.stderr.contains("the scorecard has 2 problems"),
        "{}",
        output.stderr
    );
    assert_eq!(test.run(&["validate", "."]).code, Some(2));
    let output = test.run(&["eval", "card"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("is a scorecard, not an eval file"), "{}", output.stderr);
    let output = test.run(&["scorecard", "list", "nothing"]);
    assert!(output.code == Some(2) && output.stderr.contains("no such file or folder"), "{}", output.stderr);
    let output = test.run(&["scorecard", "list", "card", "--weights", "x"]);
    assert_eq!(output.code, Some(2));
}

#[test]
fn an_unknown_weight_set_names_those_there_are() {
    let output = test().run(&["scorecard", "list", "card", "--weights", "later"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("there are: pilot, routine"), "{}", output.stderr);
}
