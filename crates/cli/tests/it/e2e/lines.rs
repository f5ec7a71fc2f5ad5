//! The pass and borderline thresholds: precedence, and consistency everywhere.

use assize_testkit::cli::CliTest;
use serde_json::Value;

use crate::e2e::bench::{cli, judgements, object, rows};

/// One case with score 0.5, with the given thresholds on suite and case.
fn suite(suite: &str, case: &str) -> CliTest {
    let cli = cli();
    cli.file(
        "s.yaml",
        format!(
            "name: s\n{suite}tests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n{case}  assertions:\n  \
             - type: rubrics\n    criteria:\n    - {{id: a, outcome: apples}}\n    - {{id: b, outcome: zebras}}\n"
        ),
    );
    cli
}

/// Verdict and exit code, which row, summary and process must agree on.
fn verdict(cli: &CliTest, args: &[&str], run: &str) -> (String, i32) {
    let mut all = vec!["eval", "s.yaml", "--json", "--run-dir", run];
    all.extend(args);
    let output = cli.run(&all);
    let value = object(&output);
    let row = rows(cli, run).remove(0);
    let verdict = row["verdict"].as_str().expect("a word").to_owned();
    assert_eq!(row["score"], 0.5);
    assert_eq!(row["graders"][0]["verdict"].as_str(), Some(verdict.as_str()));
    assert_eq!(value["counts"][&verdict], 1, "{value}");
    let code = output.code.expect("a code");
    assert_eq!(value["exit_code"], code);
    let explained = object(&cli.run(&["explain", run, "a", "--json"]).expect_code(0));
    let text = explained.to_string();
    assert!(text.contains(&format!("\"verdict\":\"{verdict}\"")), "{text}");
    (verdict, code)
}

#[test]
fn the_default_line_is_0_8_and_format_2_has_no_borderline() {
    assert_eq!(verdict(&suite("", ""), &[], "run"), ("fail".to_owned(), 1));
}

#[test]
fn command_line_beats_case_and_case_beats_suite() {
    let low_suite = suite("execution: {threshold: 0.4}\n", "");
    assert_eq!(verdict(&low_suite, &[], "a"), ("pass".to_owned(), 0));
    assert_eq!(verdict(&low_suite, &["--threshold", "0.6"], "b"), ("fail".to_owned(), 1));
    let high_case = suite("execution: {threshold: 0.4}\n", "  execution: {threshold: 0.9}\n");
    assert_eq!(verdict(&high_case, &[], "a"), ("fail".to_owned(), 1));
    assert_eq!(verdict(&high_case, &["--threshold", "0.5"], "b"), ("pass".to_owned(), 0));
    assert_eq!(verdict(&high_case, &["--borderline", "0.5"], "c"), ("borderline".to_owned(), 1));
    let lines: Value = judgements(&high_case, "c")[0]["thresholds"].clone();
    assert!(lines.to_string().contains("0.9") && lines.to_string().contains("0.5"), "{lines}");
}

#[test]
fn the_configuration_file_is_weakest_and_crossed_lines_are_refused() {
    let cli = suite("", "");
    cli.file(".assize/config.yaml", "threshold: 0.5\n");
    assert_eq!(verdict(&cli, &[], "a"), ("pass".to_owned(), 0));
    let cli = suite("execution: {threshold: 0.6}\n", "");
    cli.file(".assize/config.yaml", "threshold: 0.5\n");
    assert_eq!(verdict(&cli, &[], "a"), ("fail".to_owned(), 1));
    let output = cli.run(&["eval", "s.yaml", "--threshold", "0.3", "--borderline", "0.4"]).expect_code(2);
    assert!(output.stderr.contains("borderline"), "{}", output.stderr);
}

#[test]
fn a_required_score_range_without_a_minimum_gates_at_the_line_in_force() {
    let cli = cli();
    cli.file(
        "s.yaml",
        "name: s\ntests:\n- id: a\n  criteria: x\n  input: q\n  output: apples\n  assertions:\n  - type: rubrics\n    \
         criteria:\n    - {id: a, outcome: apples, weight: 9}\n    - id: b\n      outcome: fruit\n      required: true\n      \
         score_ranges: {0: zebras, 5: lions, 6: tigers}\n",
    );
    cli.run(&["eval", "s.yaml", "--threshold", "0.7", "--run-dir", "a"]).expect_code(1);
    cli.run(&["eval", "s.yaml", "--threshold", "0", "--run-dir", "b"]).expect_code(0);
}
