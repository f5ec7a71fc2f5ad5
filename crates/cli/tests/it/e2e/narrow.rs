//! Narrow terminals: no line of a report is wider than the terminal, and no cell is cut.

use std::path::Path;

use crate::e2e::bench::cli;

/// Commands over the examples, in an order in which each finds the runs that it needs.
const COMMANDS: &[&[&str]] = &[
    &[
        "grade", "examples/compare/rubric.yaml", "--answers", "examples/compare/before.jsonl", "--run-dir",
        "before",
    ],
    &[
        "grade", "examples/compare/rubric.yaml", "--answers", "examples/compare/after.jsonl", "--run-dir",
        "after",
    ],
    &["eval", "examples/quickstart", "--trials", "3", "--run-dir", "demo"],
    &["eval", "examples/quickstart", "--dry-run"],
    &["list"],
    &["explain", "demo"],
    &["explain", "demo", "invoice-tone"],
    &["compare", "before", "after"],
    &["compare", "before", "after", "--fail-on", "worse", "--max-drop", "0.05"],
    &["compare", "--trend", "before", "after"],
    &["compare", "pairwise", "before", "after", "--criteria", "Contains an apology", "--run-dir", "pairs"],
    &["eval", "examples/quickstart/support.eval.yaml", "--run-dir", "single"],
    &["calibrate", "single", "--labels", "examples/calibration/labels"],
    &["calibrate", "--labels", "examples/calibration/judged.csv", "--min-kappa", "0.5", "--gate-on", "lower"],
    &["calibrate", "--pairs", "--labels", "examples/calibration/pairs.csv"],
    &["calibrate", "agreement", "examples/calibration/judged.csv"],
    &["calibrate", "noise", "examples/calibration/repeats.jsonl", "--right", "0", "-k", "1,2,4"],
    &["calibrate", "power", "--pass-rate", "0.8", "--difference", "0.05"],
    &["scorecard", "list", "examples/scorecard"],
    &["scorecard", "run", "examples/scorecard", "--run-dir", "card"],
    &["scorecard", "score", "card"],
    &["scorecard", "compare", "card", "card"],
    &["scorecard", "trend", "card", "card"],
    &["explain", "card", "A-REF"],
    &["explain", "card", "A-MED1"],
    &["explain", "card", "med-04-ankle"],
    &["review", "demo", "--who", "ann"],
    &["audit", "injection", "examples/quickstart", "--run-dir", "injection"],
    &["audit", "order", "examples/quickstart", "--judging", "batched:4", "--run-dir", "order"],
    &["doctor", "--all"],
    &["lint", "--list"],
    &["validate", "examples/quickstart"],
    &["schema"],
    &["try", "Names the deadline of `30 days`", "--answer", "We will see."],
];

/// Lines that are wider than the terminal although they could be wrapped at a space. Commands and paths, which
/// people copy, stay on one line.
fn wide_lines(text: &str, columns: usize) -> Vec<&str> {
    let is_copied = |line: &str| line.starts_with("Next    ") || line.starts_with("Run     ");
    let breaks = |line: &str| line.trim_start().split(' ').filter(|word| !word.is_empty()).count() > 1;
    text.lines().filter(|line| line.chars().count() > columns && breaks(line) && !is_copied(line)).collect()
}

#[test]
fn reports_fit_into_forty_and_eighty_columns() {
    for columns in [40, 80] {
        let mut cli = cli();
        cli.copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), "examples");
        cli.env("COLUMNS", columns.to_string());
        for command in COMMANDS {
            let output = cli.run(command);
            assert_ne!(output.code, Some(2), "{command:?}: {}", output.stderr);
            let wide = wide_lines(&output.stdout, columns);
            assert!(wide.is_empty(), "{command:?} at {columns}: {wide:#?}");
        }
    }
}

#[test]
fn criteria_are_readable_in_a_narrow_comparison() {
    let mut cli = cli();
    cli.copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), "examples");
    cli.env("COLUMNS", "40");
    for command in &COMMANDS[..2] {
        cli.run(command);
    }

    let text = cli.run(&["compare", "before", "after", "--verbose"]).expect_code(0).stdout;
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.contains("Contains a phone number or an e-mail address"), "{text}");
    assert!(text.contains("pass rate pairs 12, base 25.0%, candidate 91.7%, change +66.7 pp"), "{text}");
}

#[test]
fn errors_are_wrapped_to_the_window() {
    let mut cli = cli();
    cli.env("COLUMNS", "40");
    cli.file("a.eval.yaml", "tests:\n  - id: a\n    input: x\n    output: y\n    assertions:\n      - {type: llm-rubric, value: y}\n");
    let output = cli.run(&["eval", "a.eval.yaml"]).expect_code(2);
    assert!(wide_lines(&output.stderr, 46).is_empty(), "{}", output.stderr);
    assert!(output.stderr.contains("= help: write `type: rubrics` with\n"), "{}", output.stderr);
}
